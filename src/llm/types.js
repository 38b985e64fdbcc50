/** The forms in which tools can be exported; docs/tool-schemas.md describes each. */
export const EXPORT_FORMATS = ["openai", "openai-responses", "openai-strict", "anthropic", "gemini", "gemini-legacy", "litellm", "mcp", "text"];
