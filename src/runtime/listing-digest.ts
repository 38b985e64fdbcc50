import { digest } from "../base/json.ts";
import type { AppListing } from "../tools/types.ts";

/** Digest over everything a server shows; equal digests mean that nobody has to be told. */
export function listingDigest(listing: AppListing): string {
  return digest([listing.tools, listing.prompts, listing.resources, listing.templates, listing.instructions, listing.conflicts], "listing");
}
