import { compileGlob } from "./glob.ts";

/** Who came in through a door, once the token has been checked. */
export interface Principal {
  /** `operator` may do all; `caller` uses tools, resources and prompts. */
  readonly role: "caller" | "operator";
  /** Name for rules' `clients`, marks and approvals. */
  readonly client: string;
  /** Whether this caller's tool selection holds a tool (the app, and the server's own tool name). */
  sees(app: string, tool: string): boolean;
}

/** A tool selection: `include` null means all; `exclude` wins. Patterns are `package/tool` globs; one without `/` names whole apps. */
export function compileSelection(include: readonly string[] | null, exclude: readonly string[]): Principal["sees"] {
  const compile = (pattern: string) => compileGlob(pattern.includes("/") ? pattern : `${pattern}/*`);
  const wanted = include?.map(compile) ?? null;
  const unwanted = exclude.map(compile);
  if (wanted === null && unwanted.length === 0) return () => true;
  return (app, tool) => {
    const name = `${app}/${tool}`;
    return (wanted === null || wanted.some((glob) => glob.matches(name))) && !unwanted.some((glob) => glob.matches(name));
  };
}
