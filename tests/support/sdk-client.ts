/** A real MCP client of the SDK, connected over Streamable HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connectSdk(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'journey', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
}
