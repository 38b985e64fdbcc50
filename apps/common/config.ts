import { readFileSync } from "node:fs";
import { compileCheck, describeIssues } from "./check-schema.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { LOG_LEVELS, type LogLevel } from "./logger.ts";

/** Settings that every app has. */
export interface CommonConfig {
  readonly log_level: LogLevel;
}

/** Which settings an app has, and which environment variables set them. */
export interface ConfigSpec {
  /** JSON Schema of each setting, with its default; `writeOnly: true` marks a secret. */
  readonly properties: Readonly<Record<string, JsonObject>>;
  /** Environment variable → setting. A variable that is set and not empty wins over the file. */
  readonly env: Readonly<Record<string, string>>;
}

/** What an app found out about its settings. `notes` are for the log, `secrets` must stay out of it. */
export interface LoadedConfig<T> {
  readonly config: T;
  readonly secrets: readonly string[];
  readonly notes: readonly string[];
}

/** A mistake in the app's own settings; the message names the file or variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const COMMON: ConfigSpec = {
  properties: { log_level: { enum: [...LOG_LEVELS], default: "info" } },
  env: { AURORA_APP_LOG_LEVEL: "log_level" },
};

/**
 * Reads the settings: defaults, then the JSON file that AURORA_APP_CONFIG names, then environment variables.
 * A file that does not exist is no mistake (the defaults stand, and `notes` says so). Throws ConfigError for every other fault.
 */
export function loadConfig<T extends CommonConfig>(spec: ConfigSpec, environment: Readonly<Record<string, string | undefined>>): LoadedConfig<T> {
  const properties: Readonly<Record<string, JsonObject>> = { ...COMMON.properties, ...spec.properties };
  const notes: string[] = [];
  const path = environment["AURORA_APP_CONFIG"];
  const settings: JsonObject = path ? readSettings(path, notes) : {};
  for (const [variable, key] of Object.entries({ ...COMMON.env, ...spec.env })) {
    const text = environment[variable];
    if (text) settings[key] = fromText(text, properties[key]?.["type"], variable);
  }
  const checked = compileCheck<T>({ type: "object", properties, additionalProperties: false })(settings);
  if (!checked.ok)
    throw new ConfigError(
      `settings${path ? ` (${path} and environment)` : ""}: ${describeIssues(checked.issues)}; known settings: ${Object.keys(properties).sort().join(", ")}`,
    );
  const secrets = Object.entries(checked.value)
    .filter(([key]) => properties[key]?.["writeOnly"] === true)
    .map(([, value]) => String(value));
  return { config: checked.value, secrets, notes };
}

function readSettings(path: string, notes: string[]): JsonObject {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      notes.push(`no settings file ${path}; using defaults (config.example.json shows what can be set)`);
      return {};
    }
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a token.
    throw new ConfigError(`${path}: is not valid JSON`);
  }
  if (!isJsonObject(value)) throw new ConfigError(`${path}: must hold one JSON object`);
  return value;
}

function fromText(text: string, type: unknown, variable: string): unknown {
  if (type !== "integer" && type !== "number") return text;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ConfigError(`${variable}: "${text}" is not a number`);
  return value;
}
