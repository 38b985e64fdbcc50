import { errorFields } from "../base/log-safe.ts";
import type { Masker } from "../base/masking.ts";
import type { Logger } from "../runtime/ports.ts";

/** A log whose messages and fields, errors with their causes included, are masked before the given log sees them. */
export function maskedLogger(log: Logger, masker: Masker): Logger {
  const fields = (given: object): object => masker.value(Object.fromEntries(Object.entries(given).map(([key, value]) => [key, errorFields(value)]))) as object;
  return {
    debug: (given, message) => log.debug(fields(given), masker.text(message)),
    info: (given, message) => log.info(fields(given), masker.text(message)),
    warn: (given, message) => log.warn(fields(given), masker.text(message)),
    error: (given, message) => log.error(fields(given), masker.text(message)),
    child: (given) => maskedLogger(log.child(fields(given)), masker),
  };
}
