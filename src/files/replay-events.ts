import { rename, unlink } from "node:fs/promises";
import path from "node:path";
import type { JsonObject } from "../base/json.ts";
import { makeFolder } from "../base/make-folder.ts";
import { isCode, writeFileAtomic } from "./atomic-write.ts";
import { eventFacts, renewedEvent } from "./event-facts.ts";
import { listEvents } from "./inbox-folder.ts";
import { eventFileName, inboxFolders } from "./inbox-names.ts";
import { MAX_EVENT_BYTES, readEvent } from "./read-event.ts";
import { eventFilter, type EventFilter } from "./tail-inbox.ts";

/**
 * Gives events to the readers again, oldest first; tells each as it goes back. From `dead` the file itself returns to `pending`, for its id was never
 * handled. From `done` a copy goes there under a new id and time (`renew`), in the form that it has, because readers drop an id that they have handled.
 * Files that are no events stay where they are.
 */
export async function replayEvents(
  dir: string,
  options: {
    readonly from: "dead" | "done";
    readonly filter?: EventFilter;
    readonly renew: () => { readonly id: string; readonly timestamp: string };
    readonly onEvent?: (event: JsonObject) => void;
  },
): Promise<number> {
  const folders = inboxFolders(dir);
  const wanted = eventFilter(options.filter);
  await makeFolder(folders.pending, 0o700);
  let count = 0;
  for (const name of await listEvents(folders[options.from])) {
    const file = path.join(folders[options.from], name);
    const reading = await readEvent(file, MAX_EVENT_BYTES, 1).catch(() => null);
    if (!reading?.ok || !wanted(eventFacts(reading.event))) continue;
    if (options.from === "dead") {
      await rename(file, path.join(folders.pending, name));
      await unlink(`${file}.reason`).catch((error: unknown) => {
        if (!isCode(error, "ENOENT")) throw error;
      });
      options.onEvent?.(reading.event);
    } else {
      const { id, timestamp } = options.renew();
      const renewed = renewedEvent(reading.event, id, timestamp);
      await writeFileAtomic(path.join(folders.pending, eventFileName(reading.type, id)), `${JSON.stringify(renewed)}\n`);
      options.onEvent?.(renewed);
    }
    count += 1;
  }
  return count;
}
