/** The content type of an answer is read whatever its case (RFC 9110, 8.3.1). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HttpExchange } from './http-exchange.ts';

const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{}}';
const BODIES: Record<string, string> = {
  'Application/JSON': MESSAGE,
  'Text/Event-Stream; Charset=UTF-8': `data: ${MESSAGE}\n\n`,
};
const agent = new Agent();
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const type = decodeURIComponent(request.url?.slice(1) ?? '');
    response.writeHead(200, { 'content-type': type }).end(BODIES[type]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await agent.destroy();
  server.close();
});

it.each(Object.keys(BODIES))('reads an answer of type %s', async (type) => {
  const messages: string[] = [];
  await new Promise<void>((resolve) => {
    const sink = { onMessage: (text: string) => messages.push(text), onEnd: () => resolve() };
    const path = `/${encodeURIComponent(type)}`;
    agent.dispatch({ origin, path, method: 'GET' }, new HttpExchange(sink, 1024));
  });
  expect(messages).toEqual([MESSAGE]);
});
