import type { Masker } from "../base/masking.ts";
import type { AppListing } from "../tools/types.ts";

/** What a server shows without the host's own secrets; in the words about it, and in what it calls itself, without any. */
export function cleanListing(listing: AppListing, masker: Masker): AppListing {
  const known = masker.known(listing);
  return {
    ...known,
    serverInfo: masker.value(known.serverInfo) as AppListing["serverInfo"],
    dropped: masker.value(known.dropped) as AppListing["dropped"],
    warnings: known.warnings.map(masker.text),
  };
}
