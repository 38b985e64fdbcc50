/**
 * Where everything of the picture goes. Pure: the same data and width give the same places.
 *
 * @typedef {{ key: string, kind: "rule" | "table" | "app" | "signal" | "built-in" | "inbox", x: number, y: number, width: number, height: number, data: any }} GraphNode
 * @typedef {{ from: string, to: string, tone: string, path: string }} GraphEdge
 * @typedef {{ text: string, x: number, y: number }} GraphTitle
 * @typedef {{ width: number, height: number, nodes: GraphNode[], edges: GraphEdge[], titles: GraphTitle[] }} GraphLayout
 */

const GAP = 12;
const TITLE = 30;
const SMALL = 54;
/** Under this width the three columns stand one below the other, and edges run along the sides. */
const NARROW = 640;
export const SQUARE = 11;
export const SQUARE_STEP = 14;
const MAX_SQUARE_ROWS = 3;

/**
 * @param {{ apps: any[], tools: any[], graph: any, inbox: any }} data
 * @param {number} width
 * @returns {GraphLayout}
 */
export function layOut({ apps, tools, graph, inbox }, width) {
  const narrow = width < NARROW;
  const gap = narrow ? 0 : Math.min(130, Math.max(44, width * 0.09));
  const side = narrow ? 26 : 2;
  const column = narrow ? width - 2 * side : (width - 2 * gap - 2 * side) / 3;
  const perRow = squaresPerRow(column);

  const toolsOf = new Map(apps.map((app) => [app.package, /** @type {any[]} */ ([])]));
  for (const tool of tools) toolsOf.get(tool.app)?.push(tool);
  const rules = (graph?.rules ?? []).map((/** @type {any} */ rule) => block(`rule:${rule.id}`, "rule", SMALL, rule));
  const table = graph === null ? [] : [block("table", "table", SMALL + 16, graph.table)];
  const cards = apps.map((app) => {
    const own = toolsOf.get(app.package) ?? [];
    const rows = Math.min(MAX_SQUARE_ROWS, Math.ceil(own.length / perRow));
    return block(`app:${app.package}`, "app", 58 + (rows > 0 ? rows * SQUARE_STEP + 8 : 0), { app, tools: own, room: perRow * MAX_SQUARE_ROWS, perRow });
  });
  const own = (graph?.signals ?? []).filter((/** @type {any} */ signal) => signal.file !== null);
  const builtIn = (graph?.signals ?? []).filter((/** @type {any} */ signal) => signal.file === null);
  const signals = own.map((/** @type {any} */ signal) => block(`signal:${signal.id}`, "signal", SMALL, signal));
  if (builtIn.length > 0) signals.push(block("built-in", "built-in", SMALL, builtIn));
  signals.push(block("inbox", "inbox", SMALL, inbox));

  /** @type {{ title: string, blocks: { key: string, kind: GraphNode["kind"], height: number, data: any }[] }[]} */
  const all = [
    { title: "Policy", blocks: [...rules, ...table] },
    { title: "Apps and tools", blocks: cards },
    { title: "Signals", blocks: signals },
  ];
  const columns = all.filter(({ blocks }) => blocks.length > 0);
  const heights = columns.map(({ blocks }) => blocks.reduce((sum, one) => sum + one.height + GAP, TITLE));
  const tallest = Math.max(...heights);

  /** @type {GraphNode[]} */
  const nodes = [];
  /** @type {GraphTitle[]} */
  const titles = [];
  let below = 0;
  for (const [i, { title, blocks }] of columns.entries()) {
    // Side by side, a short column stands in the middle of the tallest, so that edges stay flat.
    const top = narrow ? below : Math.min(120, (tallest - /** @type {number} */ (heights[i])) / 2);
    const x = narrow ? side : side + i * (column + gap) + (columns.length === 3 ? 0 : gap);
    titles.push({ text: title, x, y: top + 16 });
    let y = top + TITLE;
    for (const one of blocks) {
      nodes.push({ ...one, x, y, width: column });
      y += one.height + GAP;
    }
    below = y + 8;
  }
  return { width, height: narrow ? below : tallest, nodes, titles, edges: edgesOf(nodes, graph, apps, narrow) };
}

/** @param {number} column */
function squaresPerRow(column) {
  return Math.max(6, Math.floor((column - 28) / SQUARE_STEP));
}

/**
 * @param {string} key
 * @param {GraphNode["kind"]} kind
 * @param {number} height
 * @param {any} data
 */
function block(key, kind, height, data) {
  return { key, kind, height, data };
}

/**
 * @param {GraphNode[]} nodes
 * @param {any} graph
 * @param {any[]} apps
 * @param {boolean} narrow
 */
function edgesOf(nodes, graph, apps, narrow) {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  /** @type {GraphEdge[]} */
  const edges = [];
  const present = apps.filter((app) => app.state !== "disabled" && app.state !== "skipped");
  /**
   * @param {string} from
   * @param {string} to
   * @param {string} tone
   */
  const join = (from, to, tone) => {
    const a = byKey.get(from);
    const b = byKey.get(to);
    if (a && b)
      edges.push({
        from,
        to,
        tone,
        path: narrow || a.x === b.x ? around(a, b, from.startsWith("app:") || a.kind === "signal" || a.kind === "built-in") : across(a, b),
      });
  };
  for (const rule of graph?.rules ?? []) for (const { app } of rule.apps) join(`rule:${rule.id}`, `app:${app}`, rule.action ?? (rule.risk ? "risk" : "limit"));
  for (const app of apps) if (app.tools > 0) join("table", `app:${app.package}`, "table");
  for (const signal of graph?.signals ?? []) {
    if (signal.file === null) continue;
    for (const app of signal.apps ?? present.map((one) => one.package)) join(`app:${app}`, `signal:${signal.id}`, signal.emits === null ? "drop" : "signal");
    if (signal.emits !== null) join(`signal:${signal.id}`, "inbox", "signal");
  }
  for (const app of present) join(`app:${app.package}`, "built-in", "signal");
  join("built-in", "inbox", "signal");
  return edges;
}

/**
 * From the right side of one node to the left side of another.
 * @param {GraphNode} a
 * @param {GraphNode} b
 */
function across(a, b) {
  const [x1, y1, x2, y2] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
  const bend = (x2 - x1) / 2;
  return `M${round(x1)} ${round(y1)}C${round(x1 + bend)} ${round(y1)} ${round(x2 - bend)} ${round(y2)} ${round(x2)} ${round(y2)}`;
}

/**
 * From one node to another of the same column, around its left or right side.
 * @param {GraphNode} a
 * @param {GraphNode} b
 * @param {boolean} right
 */
function around(a, b, right) {
  const x = right ? a.x + a.width : a.x;
  const out = x + (right ? 22 : -22);
  const [y1, y2] = [a.y + a.height / 2, b.y + b.height / 2];
  return `M${round(x)} ${round(y1)}C${round(out)} ${round(y1)} ${round(out)} ${round(y2)} ${round(x)} ${round(y2)}`;
}

/** @param {number} n */
function round(n) {
  return Math.round(n * 10) / 10;
}
