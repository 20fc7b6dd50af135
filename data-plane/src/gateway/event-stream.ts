/** Server-sent events as MCP uses them: one JSON-RPC message each. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The headers of a stream that bypasses Fastify's reply: headers set by hooks are included. */
export function streamHeaders(reply: FastifyReply): OutgoingHttpHeaders {
  return {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
}

/** A message as an event; with an id the stream can be resumed after it. */
export function eventText(json: string, id?: string): string {
  // A server's raw text may contain line breaks; each line needs its own field.
  const data =
    json.includes('\n') || json.includes('\r') ? json.replaceAll(/\r\n?|\n/g, '\ndata: ') : json;
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
}

/** A comment that keeps the connection open. */
export const KEEP_ALIVE = ':keepalive\n\n';
