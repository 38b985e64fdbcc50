// An MCP server made with the official SDK that asks people, as its callers tell it to.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

const TOOLS = {
  /** Puts the arguments as a question and gives what came back. */
  ask: async (params) =>
    text(
      await server.elicitInput(params).then(
        (answer) => answer,
        (error) => ({ refused: error.message }),
      ),
    ),
  /** Will not run before somebody has been at an address. */
  visit: (elicitation) => {
    throw new UrlElicitationRequiredError([{ mode: "url", ...elicitation }]);
  },
  /** Says that somebody has been there. */
  finish: async ({ elicitationId }) => {
    await server.createElicitationCompletionNotifier(elicitationId)();
    return text("told");
  },
};

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => TOOLS[params.name](params.arguments));
await server.connect(new StdioServerTransport());
