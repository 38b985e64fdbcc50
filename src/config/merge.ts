import { isObject, setOwn } from "../base/json.ts";

/**
 * What two declarations of one app mean together (contracts 2): maps merge by key, null removes a key, scalars and lists
 * replace. Neither input is changed; nulls do not remain.
 */
export function mergeSettings(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(base))
    if (!Object.hasOwn(over, key) && value !== null) setOwn(out, key, isObject(value) ? mergeSettings(value, {}) : value);
  for (const [key, value] of Object.entries(over)) {
    if (value === null) continue;
    const under = Object.hasOwn(base, key) ? base[key] : undefined;
    setOwn(out, key, isObject(value) ? mergeSettings(isObject(under) ? under : {}, value) : value);
  }
  return out;
}

/** Moves `env` of an app's top level over `mcp.env` of the same file, where the later files can merge it by name. */
export function foldEnv(settings: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(settings, "env")) return settings;
  const { env, ...rest } = settings;
  const mcp = isObject(rest["mcp"]) ? rest["mcp"] : {};
  const inner = isObject(mcp["env"]) ? mcp["env"] : {};
  // Not mergeSettings: a null must stay until the manifest has been merged with the topology.
  return { ...rest, mcp: { ...mcp, env: env === null ? null : { ...inner, ...(env as object) } } };
}
