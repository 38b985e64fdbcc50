// Lint rules. The layers of src/ stand in one table: a room may import only the rooms named for it, and itself.
// Pure rooms mean something and touch nothing: no disk, network, processes or timers.

const ALL_ROOMS = ["base", "config", "tools", "llm", "policy", "amp", "plan", "runtime", "calls", "mcp", "files", "kit", "control", "web", "cli"];
const TOP_FILES = ["kit", "daemon", "door", "index", "locate-workspace", "settled", "workspace"];

/** room → what it may import from src/. `kit-api` (types that every door speaks) and generated/ are open to all but base. */
const LAYERS = {
  base: [],
  config: ["base"],
  tools: ["base"],
  llm: ["base", "tools"],
  policy: ["base", "config", "tools"],
  amp: ["base", "config", "tools"],
  plan: ["base", "config", "tools", "policy", "amp"],
  runtime: ["base", "config", "tools", "policy", "amp", "plan"],
  calls: ["base", "tools", "policy", "amp", "llm", "plan", "runtime"],
  files: ["base", "config", "tools", "amp", "runtime", "calls"],
  mcp: ["base", "tools", "amp", "plan", "runtime", "calls"],
  kit: ["base", "config", "tools", "llm", "policy", "amp", "plan", "runtime", "calls", "files", "mcp"],
  control: ["base", "mcp"],
  web: ["control"],
  cli: [
    "base",
    "config",
    "llm",
    "policy",
    "amp",
    "plan",
    "runtime",
    "calls",
    "files",
    "control",
    "tools",
    "mcp",
    "kit",
    "daemon",
    "locate-workspace",
    "settled",
    "workspace",
  ],
};

const PURE = ["config", "tools", "llm", "policy", "amp", "plan"];
const IMPURE_MODULES = ["node:fs", "node:fs/**", "node:child_process", "node:http", "node:https", "node:net", "node:timers", "node:timers/**"];

/** package → the only places that import it. */
const PACKAGES = [
  { group: ["@modelcontextprotocol/**"], rooms: ["mcp"], message: "Only src/mcp/ imports the MCP SDK." },
  { group: ["chokidar"], rooms: ["files"], message: "Only src/files/ watches the disk." },
  { group: ["yaml"], rooms: ["config"], message: "Only src/config/ reads and writes YAML." },
  { group: ["ajv", "ajv/**", "re2js"], rooms: ["base"], message: "Only src/base/json-schema.ts validates and compiles patterns." },
  { group: ["pino"], rooms: ["daemon"], message: "Only src/daemon.ts makes a logger." },
  { group: ["@opentelemetry/**"], rooms: ["base"], message: "Only src/base/tracing.ts traces." },
  { group: ["prom-client"], rooms: ["control"], message: "Only src/control/ counts metrics." },
  { group: ["commander"], rooms: ["cli"], message: "Only src/cli/ reads the command line." },
];

const room = (name) => {
  const allowed = new Set([...(LAYERS[name] ?? []), name]);
  const rooms = ALL_ROOMS.filter((other) => !allowed.has(other)).map((other) => `**/${other}/**`);
  const files = TOP_FILES.filter((file) => !allowed.has(file)).map((file) => `**/${file}.ts`);
  if (name === "base") files.push("**/kit-api.ts", "**/generated/**");
  const patterns = [{ group: [...rooms, ...files], message: `src/${name}/ may import only: ${[...allowed].join(", ")}.` }];
  for (const rule of PACKAGES) if (!rule.rooms.includes(name)) patterns.push({ group: rule.group, message: rule.message });
  if (PURE.includes(name)) patterns.push({ group: IMPURE_MODULES, message: `src/${name}/ is pure: it reads no disk, network or clock.` });
  return { files: [`src/${name}/**`], rules: { "no-restricted-imports": ["error", { patterns }] } };
};

export default {
  plugins: ["typescript", "import", "unicorn", "oxc", "promise", "node"],
  categories: { correctness: "error", suspicious: "error" },
  ignorePatterns: ["dist/**", "generated/**", "node_modules/**"],
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "import/no-named-as-default-member": "off",
    "unicorn/no-thenable": "off",
    "unicorn/prefer-add-event-listener": "off",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/no-array-reverse": "off",
    "typescript/no-explicit-any": "error",
    "typescript/consistent-type-imports": "error",
    "promise/always-return": "off",
    "promise/no-callback-in-promise": "off",
    "unicorn/no-useless-spread": "off",
    "no-control-regex": "off",
    "no-misleading-character-class": "off",
    "no-unmodified-loop-condition": "off",
    "no-await-in-loop": "off",
    "no-underscore-dangle": "off",
    "no-console": "error",
    "no-shadow": "off",
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
  },
  overrides: [
    ...Object.keys(LAYERS).map(room),
    { files: ["src/cli/**", "scripts/**", "bench/**", "test/**", "apps/**", "examples/**"], rules: { "no-console": "off" } },
    { files: ["*.config.*", "scripts/plain-reporter.ts"], rules: { "import/no-default-export": "off" } },
    { files: ["test/**", "bench/**"], rules: { "max-lines": "off", "typescript/no-explicit-any": "off" } },
  ],
};
