import { existsSync } from "node:fs";
import path from "node:path";
import { CliError } from "./cli-error.ts";
import { exampleFiles, type NewFile } from "./package-files.ts";

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*$/;

/** The files of `apps/aurora-app-<name>/` under `root`: a small app that works as it is. Writes nothing; throws a {@link CliError} for a bad name or when its manifest is there. */
export async function scaffoldApp(
  root: string,
  name: string,
  packageName: string | undefined,
): Promise<{ readonly folder: string; readonly package: string; readonly files: NewFile[] }> {
  const short = name.replace(/^aurora-app-/, "");
  const of = packageName ?? `org.example.${short.replaceAll("-", "_")}`;
  if (!NAME.test(short)) throw new CliError(`"${name}" cannot be the name of an app: use lower-case letters, digits and single hyphens, such as my-notes`);
  if (!PACKAGE.test(of) || of.length > 100)
    throw new CliError(`"${of}" cannot be a package: use letters, digits, _ and - in parts with dots between, such as org.example.notes`);
  const folder = path.join(root, "apps", `aurora-app-${short}`);
  const title = short.charAt(0).toUpperCase() + short.slice(1).replaceAll("-", " ");
  const rename = (text: string): string =>
    text
      .replaceAll("org.example.hello", of)
      .replaceAll("aurora-app-hello", `aurora-app-${short}`)
      .replace(/^name: Hello$/m, `name: ${title}`)
      .replace('title: "Hello"', `title: "${title}"`);
  if (existsSync(path.join(folder, "manifest.yaml"))) throw new CliError(`${folder} has an app already; choose another name`);
  return { folder, package: of, files: await exampleFiles("aurora-app-hello", folder, rename) };
}
