/**
 * Common MCP clients, and the form of an entry in the configuration of each. The formats are the
 * clients' own, as documented (docs/connect.md).
 */
import { z } from 'zod';

/** Clients whose configuration is known; `other` gets the common form. */
export const McpClient = z.enum([
  'claude-desktop',
  'claude-code',
  'cursor',
  'vscode',
  'codex',
  'gemini-cli',
  'other',
]);
export type McpClient = z.infer<typeof McpClient>;

/** The default name of an entry. */
export const ENTRY_NAME = 'governance';

/** What an entry points to. */
export interface GatewayAccess {
  url: string;
  /** The value of the Authorization header: whoever reads it can act as the agent. */
  authorization: string;
}

export type ClientEntry = Record<string, string | string[] | Record<string, string>>;

/** The variable of Claude Desktop's bridge. */
const BRIDGE_VARIABLE = 'AGENT_AUTH';

/**
 * The entry that a client's configuration gets (specification 2, "Client setup"). Its headers hold
 * the credential: the text that it becomes is a secret.
 *
 * @returns the entry alone; under which key it belongs is the client's (`mcpServers` for most)
 */
export function clientEntry(client: McpClient, { url, authorization }: GatewayAccess): ClientEntry {
  const headers = { Authorization: authorization };
  switch (client) {
    // It only starts local processes: this one forwards everything. The header is in `env`, since
    // an argument with a space is split on Windows.
    case 'claude-desktop':
      return {
        command: 'npx',
        args: [
          ...['-y', 'mcp-remote', url, '--transport', 'http-only'],
          ...(url.startsWith('https://') ? [] : ['--allow-http']),
          ...['--header', `Authorization:\${${BRIDGE_VARIABLE}}`],
        ],
        env: { [BRIDGE_VARIABLE]: authorization },
      };
    case 'cursor':
      return { url, headers };
    case 'codex':
      return { url, http_headers: headers };
    // `url` is the older SSE transport there, which the gateway does not speak.
    case 'gemini-cli':
      return { httpUrl: url, headers };
    case 'claude-code':
    case 'vscode':
    case 'other':
      return { type: 'http', url, headers };
  }
}
