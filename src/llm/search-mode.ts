import type { ExportTool } from "./types.ts";

/** The two tools of the search form. A host answers them itself: see `tools/search.ts`. */
export const SEARCH_TOOLS_NAME = "search_tools";
export const CALL_TOOL_NAME = "call_tool";

/** What a model is given instead of a long list of tools: one tool to find others, one to call what was found. */
export const SEARCH_MODE_TOOLS: readonly ExportTool[] = [
  {
    full: SEARCH_TOOLS_NAME,
    app: "",
    short: SEARCH_TOOLS_NAME,
    name: SEARCH_TOOLS_NAME,
    description: "Finds tools by what they do. Gives the names, descriptions and argument schemas of the best matches; call one of them with call_tool.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What you want to do, in a few words." },
        limit: { type: "integer", minimum: 1, maximum: 20, description: "How many tools to give at most; 5 if left out." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    risk: "low",
    appTitle: "tool search",
  },
  {
    full: CALL_TOOL_NAME,
    app: "",
    short: CALL_TOOL_NAME,
    name: CALL_TOOL_NAME,
    description: "Calls a tool that search_tools found. The arguments must fit the schema that search_tools gave for it.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "The tool's name, exactly as search_tools gave it." },
        arguments: { type: "object", description: "The tool's arguments.", additionalProperties: true },
      },
      required: ["name"],
      additionalProperties: false,
    },
    risk: "low",
    appTitle: "tool search",
  },
];
