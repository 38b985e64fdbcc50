import { nearest } from "../base/text.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { Host } from "./host.ts";

/** Throws a {@link CliError} with exit code 1 that names near apps, or all, where no app of a host is called so. No name is fine. */
export async function requireApp(host: Host, app: string | undefined): Promise<void> {
  if (app === undefined) return;
  const known = (await host.status()).apps.map((each) => each.package);
  if (!known.includes(app)) throw unknownApp([app], known);
}

/** The error for names that no app has. */
export function unknownApp(names: readonly string[], known: readonly string[]): CliError {
  const near = names.flatMap((name) => nearest(name, known));
  const hint = near.length > 0 ? `did you mean ${near.join(", ")}?` : known.length > 0 ? `there are: ${known.join(", ")}` : "there are no apps";
  return new CliError(`no app is called ${names.join(", ")}; ${hint}`, EXIT.problems);
}
