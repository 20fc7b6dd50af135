/**
 * The MCP server behind every proxy of the bench: it answers tools/call with about 750 bytes and
 * does nothing else, so that the measurement is of the path to it.
 */
import { createServer } from 'node:http';

/** Real words, since content inspection reads words. */
const PROSE = `The committee met on Tuesday to review the quarterly figures and agreed that the new
warehouse should open before the end of the summer. Several members asked how the additional staff
would be trained, and the chair explained that each team will spend two weeks with an experienced
colleague. Afterwards they discussed the road works near the main entrance, which have delayed
deliveries by about forty minutes. `;
const CONTENT = [{ type: 'text', text: PROSE.repeat(2).slice(0, 650) }];

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (chunks.length === 0) {
      response.writeHead(400).end();
      return;
    }
    const message = JSON.parse(Buffer.concat(chunks).toString()) as {
      id?: string | number;
      method: string;
    };
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message.method) });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
});

function answer(method: string): unknown {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'bench-backend', version: '1.0.0' },
      };
    case 'tools/list':
      return {
        tools: [
          {
            name: 'lookup',
            description: 'Answers 650 characters',
            inputSchema: { type: 'object' },
            annotations: { readOnlyHint: true },
          },
        ],
      };
    default:
      return { content: CONTENT };
  }
}

server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
