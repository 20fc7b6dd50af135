/** The gateway's routes as one Fastify plugin (specification 1, section 4, "MCP proxy"). */

import type { IncomingHttpHeaders } from 'node:http';
import { addressFor } from '@governance/shared/outbound/own-addresses';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Caller } from '../enforcement/call/calls.ts';
import { MODERN_REVISION } from '../upstream/era.ts';
import { isObject } from '../upstream/message.ts';
import { type ArrivalDeps, checkOrigin, enter } from './arrival.ts';
import { readCallerBodies } from './caller-bodies.ts';
import { answerDenied } from './failures.ts';
import { createErrorHandler, type HttpErrorDeps } from './http-errors.ts';
import { GatewayError, idOf, parseBody } from './json-rpc.ts';
import type { createLegacyHandler } from './legacy/handler.ts';
import { VERSION_KEY } from './modern/envelope.ts';
import type { ModernHandler } from './modern/handler.ts';
import { metadataPaths, protectedResource } from './protected-resource.ts';

export interface GatewayRoutesDeps extends ArrivalDeps, HttpErrorDeps {
  legacy: ReturnType<typeof createLegacyHandler>;
  modern: ModernHandler;
  /** Bytes of a request's body, at most. */
  bodyBytes: number;
  /** Values and keys of a message, at most. */
  bodyNodes: number;
  /** Ends streams when the service stops. */
  onClose(): void;
}

type Handle = (caller: Caller, request: FastifyRequest, reply: FastifyReply) => unknown;

const ALLOWED_METHODS = 'GET, POST, DELETE';
const ALLOWED_HEADERS =
  'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, x-requester-id, x-workflow-session, x-delegation-token, x-parent-event-id';
/** Headers that repeat arguments of a call (MCP 2026-07-28); the tools' schemas name them. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const MAX_PARAM_HEADERS = 32;
/** Characters that are read of the headers that a page asks to send. */
const MAX_ASKED_HEADERS = 8_192;
/** How long a browser may remember the answer to a preflight request. */
const PREFLIGHT_SECONDS = 600;

/** Builds the plugin. It is mounted without a prefix and changes nothing outside itself. */
export function gatewayRoutes(deps: GatewayRoutesDeps): FastifyPluginAsync {
  return async (app) => {
    readCallerBodies(app, 'application/json', deps.bodyBytes);
    app.setErrorHandler(createErrorHandler(deps));
    app.addHook('preClose', async () => deps.onClose());
    for (const path of metadataPaths(deps.publicUrl)) {
      const addressOf = (request: FastifyRequest) =>
        addressFor(deps.publicUrl, request.headers.host);
      app.get(path, async (request) => protectedResource(addressOf(request), null));
      app.get<{ Params: { server_id: string } }>(`${path}/:server_id`, async (request) =>
        protectedResource(addressOf(request), request.params.server_id),
      );
    }

    const onRequest = enter(deps);
    for (const url of ['/mcp/v1', '/mcp/v1/:server_id']) {
      const route = (method: 'GET' | 'POST' | 'DELETE', handle: Handle) => {
        const handler: RouteHandlerMethod = async (request, reply) => {
          if (request.denied) answerDenied(request.denied, request, reply, deps.bodyNodes);
          else await handle(callerOf(request), request, reply);
          return reply;
        };
        app.route({ method, url, onRequest, handler, exposeHeadRoute: false });
      };
      // Both eras share the same paths: each POST is routed by the era that it speaks.
      route('POST', (caller, request, reply) => {
        const body = parseBody(request.body, deps.bodyNodes);
        request.rpcId = idOf(body);
        const era = isModern(request.headers, body) ? deps.modern : deps.legacy;
        return era.post(caller, request, reply, body);
      });
      route('GET', sessionsOnly(deps.legacy.get));
      route('DELETE', sessionsOnly(deps.legacy.remove));
      app.options(url, async (request, reply) => {
        checkOrigin(request, reply, deps);
        return reply
          .code(204)
          .header('access-control-allow-methods', ALLOWED_METHODS)
          .header('access-control-allow-headers', allowedHeaders(request))
          .header('access-control-max-age', String(PREFLIGHT_SECONDS))
          .send();
      });
      app.route({
        method: ['PUT', 'PATCH', 'HEAD'],
        url,
        config: { refusesMethod: true },
        handler: async (_request, reply) => {
          reply.header('allow', ALLOWED_METHODS);
          throw new GatewayError(405, 'The method is not allowed here.');
        },
      });
    }
  };
}

/** Modern revisions have no sessions: every modern request is a POST. */
function sessionsOnly(handle: Handle): Handle {
  return (caller, request, reply) => {
    if (request.headers['mcp-protocol-version'] !== MODERN_REVISION) {
      return handle(caller, request, reply);
    }
    reply.header('allow', 'POST');
    throw new GatewayError(405, `MCP ${MODERN_REVISION} has POST alone.`);
  };
}

function allowedHeaders({ headers }: FastifyRequest): string {
  const asked = (headers['access-control-request-headers'] ?? '')
    .slice(0, MAX_ASKED_HEADERS)
    .split(',');
  const params = asked.map((name) => name.trim().toLowerCase());
  const found = params.filter((name) => PARAM_HEADER.test(name)).slice(0, MAX_PARAM_HEADERS);
  return [ALLOWED_HEADERS, ...found].join(', ');
}

function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('the route was reached without a caller');
  return request.caller;
}

/**
 * Whether a POST is modern. The body decides, since it is what is executed; a header alone
 * says so only of a body that says nothing.
 *
 * @param body parsed, caller-controlled
 */
function isModern(headers: IncomingHttpHeaders, body: unknown): boolean {
  if (Array.isArray(body)) return body.some(namesRevision);
  return namesRevision(body) || headers['mcp-protocol-version'] === MODERN_REVISION;
}

/** Whether a message says itself which modern revision it follows. */
function namesRevision(message: unknown): boolean {
  const params = isObject(message) ? message.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && Object.hasOwn(meta, VERSION_KEY);
}
