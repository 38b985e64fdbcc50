import { messageOf } from "../base/errors.ts";
import type { Logger } from "../kit-api.ts";
import { runFilePath, type RunFile, type RunningHost } from "./run-file.ts";

/** What {@link holdWorkspace} needs. */
export interface HoldOptions {
  readonly dataDir: string;
  readonly claim: RunFile;
  /** Reads the tokens again, and makes those that are missing. */
  readonly renewTokens: () => Promise<void>;
  readonly log: Logger;
  /** Called once, when another live host has the workspace. */
  readonly onTaken: () => void;
}

/** How long a second host could start beside one whose folder was taken away. A look is one `stat`. */
const LOOK_EVERY_MS = 1000;

/**
 * Keeps a running host findable: where its run file was taken away, with or without the data folder around it, file and tokens are made
 * anew, as soon as that is possible, and the log says so once. Gives a function that ends the looking and waits for a look under way.
 */
export function holdWorkspace({ dataDir, claim, renewTokens, log, onTaken }: HoldOptions): () => Promise<void> {
  const file = runFilePath(dataDir);
  let told: string | null = null;
  const tell = (message: string): void => {
    if (message !== told) log.error({}, message);
    told = message;
  };
  /** The file was made anew, but the tokens are not yet read again. */
  let due: "remade" | "back" | null = null;
  /** Gives whether there is more to look for. */
  const look = async (): Promise<boolean> => {
    const hold = await claim.hold();
    if (hold.state === "taken") {
      tell(takenWords(file, hold.by));
      if (hold.by.url !== null) onTaken();
      return hold.by.url === null;
    }
    if (hold.state !== "held") due = hold.state;
    if (due === null) return true;
    await renewTokens();
    log.warn({}, due === "remade" ? remadeWords(file, dataDir) : `${file} was put back or written over; the tokens beside it are in force now`);
    due = null;
    told = null;
    return true;
  };
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  const next = (): void => {
    timer = setTimeout(() => {
      running = look()
        .catch((error: unknown) => {
          tell(
            `${file} or a token beside it is gone and cannot be made anew (${messageOf(error)}): commands cannot reach this host until then; it is tried again`,
          );
          return true;
        })
        .then((more) => {
          if (more && timer !== null) next();
        });
    }, LOOK_EVERY_MS).unref();
  };
  next();
  return async () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await running;
  };
}

function remadeWords(file: string, dataDir: string): string {
  return (
    `${file} was gone or said something else: it is made anew, and so are tokens that were gone (give clients the new ones). ` +
    `Whatever else of ${dataDir} is gone went with it: approvals, marks and counts are written whole again with their next change, the audit log goes on in a new file`
  );
}

function takenWords(file: string, { pid, url }: RunningHost): string {
  if (url === null)
    return `process ${pid} took this workspace while ${file} was gone; it has no door, so it is a command that will end soon, or a host that starts`;
  return `another host (pid ${pid}, ${url}) took this workspace while ${file} was gone; two hosts would run every app twice, so this one stops`;
}
