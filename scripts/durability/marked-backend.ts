import { createServer, type Server } from 'node:http';

/** An MCP server that remembers which marked calls reached it. */
export interface MarkedBackend {
  port: number;
  /** Numbers of the calls seen since the last `take`. */
  take(): number[];
  close(): Promise<void>;
}

export const MARK = /\/calls\/(\d{7})/;

/** The path argument that marks call `n`; it becomes the decision's target. */
export function markOf(n: number): string {
  return `/calls/${String(n).padStart(7, '0')}`;
}

export async function startMarkedBackend(): Promise<MarkedBackend> {
  let seen: number[] = [];
  const server: Server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks).toString()) as {
        id?: unknown;
        method: string;
        params?: unknown;
      };
      if (message.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const mark = MARK.exec(JSON.stringify(message.params ?? {}));
      if (message.method === 'tools/call' && mark) seen.push(Number(mark[1]));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message.method) }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answer(method: string): unknown {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'marked-backend', version: '1.0.0' },
    };
  }
  if (method === 'tools/list') {
    return {
      tools: [
        { name: 'mark', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
      ],
    };
  }
  return { content: [{ type: 'text', text: 'marked' }] };
}
