/** Server-sent events as MCP uses them: one JSON-RPC message each, no ids (nothing is resumed). */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The headers of a stream that is written past Fastify: what hooks have set goes along. */
export function streamHeaders(reply: FastifyReply): OutgoingHttpHeaders {
  return {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
}

/** A message as an event. JSON text has no line breaks. */
export function eventText(json: string): string {
  // Raw text of a server may be spread over lines; each needs its own field.
  const data =
    json.includes('\n') || json.includes('\r') ? json.replaceAll(/\r\n?|\n/g, '\ndata: ') : json;
  return `event: message\ndata: ${data}\n\n`;
}

/** A comment that keeps the connection open. */
export const KEEP_ALIVE = ':keepalive\n\n';
