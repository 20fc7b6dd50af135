/** Serves MCP over its standard input and output for tests: `modern`, `dual`, `legacy`, … */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { testServerFactory } from './test-server.ts';

const [mode] = process.argv.slice(2);

if (mode === 'legacy') {
  const server = new McpServer({ name: 'legacy-test', version: '1' });
  server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'legacy' }] }));
  await server.connect(new StdioServerTransport());
} else {
  serveStdio(testServerFactory(), { legacy: mode === 'modern' ? 'reject' : 'serve' });
}
