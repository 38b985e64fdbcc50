/* Made from schemas/tools-lock.schema.json by `npm run generate`. Do not edit. */

/**
 * sha256 of the canonical JSON of the whole object as the server sent it.
 *
 * This interface was referenced by `ToolsLock`'s JSON-Schema
 * via the `definition` "pin".
 */
export type Pin = string;

/**
 * topology/tools.lock.json: what a person accepted of each app. Written by `aurora-mcp lock --accept`.
 */
export interface ToolsLock {
  /**
   * Schema reference for editors.
   */
  $schema?: string;
  /**
   * Format version; 1.
   */
  lock: 1;
  /**
   * By package.
   */
  apps: {
    [k: string]: AppPins;
  };
}
export interface AppPins {
  /**
   * Pin of the server's instructions.
   */
  instructions?: Pin;
  /**
   * Leave to list and read the server's resources; with whatever the text lint found in their texts.
   */
  resources?: Pin;
  /**
   * Pins by the server's own tool name.
   */
  tools?: {
    [k: string]: Pin;
  };
  /**
   * Pins by prompt name.
   */
  prompts?: {
    [k: string]: Pin;
  };
  /**
   * Pins by URI template.
   */
  resource_templates?: {
    [k: string]: Pin;
  };
}
