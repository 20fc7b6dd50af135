/**
 * Reads the bodies of callers' requests as bytes: only the strict JSON parser makes values of them.
 * Bodies are parsed in turn. Memory for one is reserved from its first byte until its request is
 * answered, or is over where the client has left or its call is parked, bounded by agent and by
 * tenant over all of their connections: a client that sends many large bodies, and never finishes
 * them or does not wait for the answers, cannot fill the memory. A body counts with its declared
 * length before it arrives.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { findMisclaim } from '@governance/shared/http/body-charset';
import { createBodyTurns } from '@governance/shared/http/body-turns';
import { readRequestBody } from '@governance/shared/http/request-body';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { addTo } from '../upstream/shares/fair-shares.ts';
import { GatewayError } from './json-rpc.ts';

/** Bodies of maximum size that one agent, and all agents of a tenant, may have in progress. */
const OF_AGENT = 16;
const OF_TENANT = 64;

/** Where this data plane denies all calls, all bodies share one reservation. */
const NOBODY = { tenantId: '', agent: { id: '' } };

/** The reservation of one body. */
export interface BodyPlace {
  /** Corrects the reservation to the body's actual length. */
  arrived(bytes: number): void;
  /** The connection is closed: the memory is released, once nobody has the body. */
  close(): void;
  /** The body is in use from now on. @returns what ends that, once */
  use(): () => void;
}

/**
 * Makes a Fastify scope read bodies this way.
 *
 * @param contentType of the bodies that it takes, or `*`
 * @param bodyBytes of one body, at most
 */
export function readCallerBodies(
  app: FastifyInstance,
  contentType: string,
  bodyBytes: number,
): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('denied', null);
  app.decorateRequest('bodyPlace', null);
  app.decorateRequest('rpcId', null);
  const takeRoom = createBodyRoom(bodyBytes);
  app.addHook('preParsing', (request, reply, _payload, done) => {
    try {
      const misclaim = findMisclaim(request.headers);
      if (misclaim !== undefined) throw new GatewayError(415, misclaim);
      const place = takeRoom(request.caller ?? NOBODY, request.headers);
      request.bodyPlace = place;
      reply.raw.once('close', place.close);
      // The caller disconnected while its token was verified: that event came before.
      if (reply.raw.destroyed) place.close();
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('onRoute', keepBodies);
  const turns = createBodyTurns();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    contentType,
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const body = await readRequestBody(request, payload, bodyBytes);
      const { caller, ip, bodyPlace } = request;
      bodyPlace?.arrived(body.length);
      const holder = caller
        ? { tenantId: caller.tenantId, callerId: caller.agent.id }
        : { tenantId: ip, callerId: ip };
      await turns.take(holder, body.length);
      return body;
    },
  );
}

/** A call in a session goes on without its client, and keeps its arguments. */
function keepBodies(route: RouteOptions): void {
  const { handler } = route;
  route.handler = async function (request, reply) {
    const end = request.bodyPlace?.use();
    try {
      return await handler.call(this, request, reply);
    } finally {
      end?.();
    }
  };
}

function createBodyRoom(maxBody: number) {
  const taken = new Map<string, number>();

  function requireRoom(key: string, bytes: number, bodies: number, who: string): void {
    if (!(bytes > 0) || (taken.get(key) ?? 0) + bytes <= bodies * maxBody) return;
    const many = `Busy: ${who} too many bytes of requests under way.`;
    throw new GatewayError(503, `${many} Try again later.`);
  }

  /**
   * Reserves memory for a body that is about to arrive.
   *
   * @param headers caller-controlled
   * @throws GatewayError 503 where there is none
   */
  return ({ tenantId, agent }: typeof NOBODY, headers: IncomingHttpHeaders): BodyPlace => {
    let bytes = sizeOf(headers, maxBody);
    const agentKey = `${tenantId} ${agent.id}`;
    requireRoom(agentKey, bytes, OF_AGENT, 'this agent has');
    requireRoom(tenantId, bytes, OF_TENANT, 'the agents of this tenant have');
    addTo(taken, agentKey, bytes);
    addTo(taken, tenantId, bytes);
    const change = (to: number) => {
      if (to === bytes) return;
      addTo(taken, agentKey, to - bytes);
      addTo(taken, tenantId, to - bytes);
      bytes = to;
    };
    let isClosed = false;
    const uses = new Set<object>();
    const review = () => {
      if (isClosed && uses.size === 0) change(0);
    };
    return {
      arrived: change,
      close: () => {
        isClosed = true;
        review();
      },
      use: () => {
        const use = {};
        uses.add(use);
        return () => {
          uses.delete(use);
          review();
        };
      },
    };
  };
}

/** Without a declared length, the maximum. A longer declaration is refused as too large. */
function sizeOf(headers: IncomingHttpHeaders, maxBody: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBody;
  return Math.min(Number(headers['content-length'] ?? 0), maxBody);
}
