// What the app does, free of any protocol. Nothing here knows of MCP, so it is tested by plain function calls.
import { readFileSync } from "node:fs";

/** A failure that the caller can understand and act on. */
export class ServiceError extends Error {
  constructor(errorCode, message, retryable = false) {
    super(message);
    this.errorCode = errorCode;
    this.retryable = retryable;
  }
}

/** Settings from a JSON file; the defaults where there is none. A broken file is an error, never the defaults. */
export function readConfig(file) {
  const defaults = { default_language: "en", greetings: { en: "Hello, {name}!", zh: "你好，{name}！" } };
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return defaults;
    throw error;
  }
  return { ...defaults, ...JSON.parse(text) };
}

/** Greets somebody. Throws a ServiceError for a language that the settings do not have. */
export function greet({ name, language }, config) {
  const chosen = language ?? config.default_language;
  if (!Object.hasOwn(config.greetings, chosen)) {
    const known = Object.keys(config.greetings).join(", ");
    throw new ServiceError("LANGUAGE_UNKNOWN", `There is no greeting in "${chosen}". Known languages: ${known}.`);
  }
  return { greeting: config.greetings[chosen].replaceAll("{name}", () => name), language: chosen };
}
