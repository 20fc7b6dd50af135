/**
 * MCP sessions among several workers. A session lives in the worker that made it, and its id names
 * that worker; a request that arrives elsewhere is forwarded there, over the private socket, and
 * its answer returned, both streamed. Only the owner authenticates, judges and records. An owner
 * that is down has lost the session: 404, and the client initializes again.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../gateway/json-rpc.ts';
import { forward, PassedAnswer } from './passage.ts';

export type WorkerSessions = ReturnType<typeof createWorkerSessions>;

/** How long a worker that restarts or hangs is waited for. */
const AWAY_MS = 5_000;
const AGAIN_MS = 250;

/** base64url has no full stop: the number cannot be mistaken for a part of the secret. */
const SESSION_ID = /^w([1-9]\d{0,3})\./;

export function createWorkerSessions(options: {
  /** This worker's number, from 1. */
  worker: number;
  count: number;
  /** The connection to another worker's private socket. */
  wayTo(worker: number): Dispatcher;
  /** Whether another worker answers now; known after a second at most. */
  isThere(worker: number): Promise<boolean>;
  /** Whether a request came from another worker: it is served here, or not at all. */
  isPrivate(request: IncomingMessage): boolean;
  /** Bytes of a request's body, at most. */
  bodyBytes: number;
}) {
  const { worker, count } = options;
  const streams = new Set<PassedAnswer>();

  function ownerOf(id: string | string[] | undefined): number {
    // caller-controlled
    const named = typeof id === 'string' ? SESSION_ID.exec(id)?.[1] : undefined;
    return Number(named ?? worker);
  }

  async function hand(owner: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = new PassedAnswer(reply);
    if (request.method === 'GET') streams.add(answer);
    try {
      await forward(options.wayTo(owner), request, answer);
    } finally {
      streams.delete(answer);
    }
  }

  /** Whether a request is for another worker. Throws a GatewayError for one that is too large. */
  function isForeign(owner: number, request: FastifyRequest): boolean {
    const isOwn = owner === worker || owner > count;
    if (isOwn || options.isPrivate(request.raw)) return false;
    if (Number(request.headers['content-length'] ?? 0) > options.bodyBytes) {
      throw new GatewayError(413, 'The body is larger than this route accepts.');
    }
    return true;
  }

  /** Waits for a worker that restarts or hangs. @returns whether it came */
  async function handWhenThere(
    owner: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    const lastTry = performance.now() + AWAY_MS - AGAIN_MS;
    while (!(await options.isThere(owner))) {
      if (performance.now() >= lastTry || request.raw.destroyed) return false;
      await sleep(AGAIN_MS);
    }
    await hand(owner, request, reply);
    return true;
  }

  return {
    /** Builds a session id from its random part. */
    nameSession: (random: string): string => `w${worker}.${random}`,

    /**
     * Takes a request whose session another worker holds; undefined where this one serves it.
     * Rejects with a GatewayError where there is no answer and none was begun.
     */
    passOn: (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
      const owner = ownerOf(request.headers['mcp-session-id']);
      return isForeign(owner, request) ? hand(owner, request, reply) : undefined;
    },

    /**
     * Forwards a request to another worker, if that is up; undefined where this one is meant.
     *
     * @returns false where it is not there: nothing of the request was read
     */
    passTo: (
      owner: number,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<boolean> | undefined =>
      isForeign(owner, request) ? handWhenThere(owner, request, reply) : undefined,

    worker,
    count,

    /** Ends the streams that other workers send through this one when it stops. */
    endStreams: (): void => {
      for (const answer of streams) answer.stop();
    },
  };
}
