/** The server's own name of a tool: what it listed, with a leading `{package}.` taken off (contracts 4). Locks, pins and policies speak of it. */
export function ownToolName(app: string, listed: string): string {
  return listed.startsWith(`${app}.`) && listed.length > app.length + 1 ? listed.slice(app.length + 1) : listed;
}
