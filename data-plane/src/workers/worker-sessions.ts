/**
 * MCP sessions among several workers. A session lives in the worker that made it, and its id says
 * which one that is; a request that comes in elsewhere is handed there, over the private socket,
 * and its answer back, both as they flow. The owner alone authenticates, judges and records.
 * An owner that is away has lost the session: 404, and the client initializes again.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../gateway/json-rpc.ts';

export interface WorkerSessions {
  /** Makes a session id of its random part. */
  nameSession(random: string): string;
  /**
   * Takes a request whose session another worker holds; undefined where this one serves it.
   * Rejects with a GatewayError where there is no answer and none was begun.
   */
  passOn(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined;
  /** Ends the streams that other workers send through this one: it stops. */
  endStreams(): void;
}

export interface WorkerSessionsOptions {
  /** This worker's number, from 1. */
  worker: number;
  count: number;
  /** The way to another worker's private socket. */
  wayTo(worker: number): Dispatcher;
  /** Whether a request came from another worker: it is served here, or not at all. */
  isPrivate(request: IncomingMessage): boolean;
  /** Bytes of a request's body, at most. */
  bodyBytes: number;
}

/** A full stop is in no base64url: the number cannot be mistaken for a part of the secret. */
const SESSION_ID = /^w([1-9]\d{0,3})\./;

export function createWorkerSessions(options: WorkerSessionsOptions): WorkerSessions {
  const { worker, count } = options;
  const streams = new Set<() => void>();

  function ownerOf(id: string | string[] | undefined): number {
    // caller-controlled
    const named = typeof id === 'string' ? SESSION_ID.exec(id)?.[1] : undefined;
    const owner = Number(named ?? worker);
    return owner <= count ? owner : worker;
  }

  async function hand(owner: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { raw } = reply;
    const ending = new AbortController();
    const end = () => ending.abort();
    raw.once('close', end);
    if (request.method === 'GET') streams.add(end);
    // Not the request itself: undici destroys a body that it could not send, and with it the
    // connection that the refusal has to go back on.
    const body = hasBody(request.raw) ? request.raw.pipe(new PassThrough()) : null;
    body?.on('error', () => undefined);
    try {
      const answer = await options.wayTo(owner).request({
        method: request.method as Dispatcher.HttpMethod,
        path: request.raw.url ?? '/',
        headers: endToEnd(request.raw),
        body,
        signal: ending.signal,
        // Calls and streams last as long as the owner lets them.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      reply.hijack();
      raw.on('error', () => undefined);
      raw.writeHead(answer.statusCode, withoutHops(answer.headers));
      // Once begun, an answer that breaks off here breaks off there.
      await pipeline(answer.body, raw).catch(() => raw.destroy());
    } catch (error) {
      // The client itself went.
      if (raw.destroyed) return;
      throw refusal(error, ending.signal.aborted);
    } finally {
      raw.off('close', end);
      streams.delete(end);
      if (body !== null) {
        request.raw.unpipe(body);
        request.raw.resume();
      }
    }
  }

  return {
    nameSession: (random) => `w${worker}.${random}`,

    passOn: (request, reply) => {
      const owner = ownerOf(request.headers['mcp-session-id']);
      if (owner === worker || options.isPrivate(request.raw)) return undefined;
      if (Number(request.headers['content-length'] ?? 0) > options.bodyBytes) {
        throw new GatewayError(413, 'The body is larger than this route accepts.');
      }
      return hand(owner, request, reply);
    },

    endStreams: () => {
      for (const end of streams) end();
    },
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** They belong to one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names and values in turn, as they came. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.includes(lower)) continue;
    passed.push(name, rawHeaders[at + 1] as string);
  }
  return passed;
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

/** Nothing was sent where no connection came about: the session is gone, and no call with it. */
const NOT_CONNECTED = new Set(['ENOENT', 'ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

function refusal(error: unknown, isStopping: boolean): GatewayError {
  const { code } = error as { code?: string };
  if (code !== undefined && NOT_CONNECTED.has(code)) {
    return new GatewayError(404, 'No such session.');
  }
  const why = isStopping ? 'The service stops.' : 'The worker of this session ended meanwhile.';
  return new GatewayError(503, why);
}
