/** Where a LiteLLM proxy finds the kit's gateway. */
export interface LiteLlmTarget {
  /** Name of the server in LiteLLM; it prefixes tool names there. Letters, digits and `_`: LiteLLM refuses `-`, its separator. */
  readonly name: string;
  /** The gateway's URL, with `/mcp`. */
  readonly url: string;
  /** Environment variable of the proxy that holds the caller token; null when the gateway asks for none. */
  readonly tokenVariable: string | null;
  readonly description: string;
}

/** The `mcp_servers` section of a LiteLLM proxy's configuration, as YAML text. The token is named, never written. */
export function liteLlmConfig(target: LiteLlmTarget): string {
  const name = target.name.replace(/[^A-Za-z0-9_]+/g, "_");
  const lines = [
    "# Put this beside model_list in the configuration of the LiteLLM proxy.",
    "mcp_servers:",
    `  ${JSON.stringify(name)}:`,
    `    url: ${JSON.stringify(target.url)}`,
    '    transport: "http"',
    `    description: ${JSON.stringify(target.description)}`,
  ];
  if (target.tokenVariable !== null) lines.push('    auth_type: "bearer_token"', `    auth_value: ${JSON.stringify(`os.environ/${target.tokenVariable}`)}`);
  return `${lines.join("\n")}\n`;
}
