import { mkdir, rename, unlink } from "node:fs/promises";
import path from "node:path";
import type { AmpEnvelope } from "../amp/types.ts";
import { isObject, own } from "../base/json.ts";
import { isCode, writeFileAtomic } from "./atomic-write.ts";
import { listEvents } from "./inbox-folder.ts";
import { eventFileName, inboxFolders } from "./inbox-names.ts";
import { MAX_EVENT_BYTES, readEvent } from "./read-event.ts";
import { eventFilter, type EventFilter } from "./tail-inbox.ts";

/**
 * Gives events to the readers again, oldest first; tells each as it goes back. From `dead` the file itself returns to `pending`, for its id was never
 * handled. From `done` a copy goes there under a new id and time (`renew`), because readers drop an id that they have handled.
 * Files that are no events stay where they are.
 */
export async function replayEvents(
  dir: string,
  options: {
    readonly from: "dead" | "done";
    readonly filter?: EventFilter;
    readonly renew: (envelope: AmpEnvelope) => AmpEnvelope;
    readonly onEnvelope?: (envelope: AmpEnvelope) => void;
  },
): Promise<number> {
  const folders = inboxFolders(dir);
  const wanted = eventFilter(options.filter);
  await mkdir(folders.pending, { recursive: true, mode: 0o700 });
  let count = 0;
  for (const name of await listEvents(folders[options.from])) {
    const file = path.join(folders[options.from], name);
    const reading = await readEvent(file, MAX_EVENT_BYTES, 1).catch(() => null);
    if (!reading?.ok || !isObject(own(reading.event, "header"))) continue;
    const envelope = reading.event as unknown as AmpEnvelope;
    if (!wanted(envelope)) continue;
    if (options.from === "dead") {
      await rename(file, path.join(folders.pending, name));
      await unlink(`${file}.reason`).catch((error: unknown) => {
        if (!isCode(error, "ENOENT")) throw error;
      });
      options.onEnvelope?.(envelope);
    } else {
      const renewed = options.renew(envelope);
      await writeFileAtomic(path.join(folders.pending, eventFileName(renewed.payload.type, renewed.header.message_id)), `${JSON.stringify(renewed)}\n`);
      options.onEnvelope?.(renewed);
    }
    count += 1;
  }
  return count;
}
