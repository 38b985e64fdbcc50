/** Levels in rising order. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes lines for people to stderr; stdout belongs to the protocol (guide 15.6). */
export type Logger = Readonly<Record<LogLevel, (message: string) => void>>;

/**
 * A logger that writes `<time> <LEVEL> <app>: <message>` and puts `***` where a secret, a bearer token or a URL's user info stands.
 * Callers keep chat texts, diary texts and request bodies out of the message (guide 11.5).
 */
export function createLogger(
  app: string,
  options: { readonly level: LogLevel; readonly secrets: readonly string[]; readonly write?: (line: string) => void },
): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const secrets = options.secrets.filter((secret) => secret.length > 0).flatMap((secret) => [secret, encodeURIComponent(secret)]);
  const least = LOG_LEVELS.indexOf(options.level);
  const at = (level: LogLevel) => (message: string) => {
    if (LOG_LEVELS.indexOf(level) < least) return;
    write(`${new Date().toISOString()} ${level.toUpperCase()} ${app}: ${mask(message, secrets)}\n`);
  };
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}

function mask(message: string, secrets: readonly string[]): string {
  let out = message;
  for (const secret of secrets) out = out.replaceAll(secret, "***");
  return out
    .replace(/\b(Bearer\s+)[^\s"',]+/gi, "$1***")
    .replace(/(:\/\/)[^\s/@]+@/g, "$1***@")
    .replace(/([?&](?:access_)?token=)[^&\s"']+/gi, "$1***");
}
