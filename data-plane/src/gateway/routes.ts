/**
 * The gateway's routes as one Fastify plugin (specification 1, section 4, "MCP proxy"). Before a
 * body is read: Origin, then the credential. Nothing malformed is answered with a 5xx.
 */
import { performance } from 'node:perf_hooks';
import { BodiesBusyError, type BodyHolder, createBodyTurns } from '@governance/shared/body-turns';
import { RPC_ERRORS } from '@governance/shared/errors';
import { addressFor } from '@governance/shared/own-addresses';
import { isStorableText } from '@governance/shared/text';
import type {
  FastifyError,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteHandlerMethod,
} from 'fastify';
import type { Deny } from '../enforcement/calls.ts';
import { type Credential, parseCredential } from '../enforcement/credentials.ts';
import type { Identity } from '../enforcement/steps/authenticate.ts';
import { MODERN_REVISION } from '../upstream/era.ts';
import { HOPS_HEADER, readHops } from '../upstream/hops.ts';
import { type BodyPlace, createBodyRoom } from './body-room.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { errorText, GatewayError, type RpcId } from './json-rpc.ts';
import type { createLegacyHandler } from './legacy/handler.ts';
import type { OriginPolicy } from './origin.ts';
import type { createPost } from './post.ts';
import { challengeHeader, metadataPaths, protectedResource } from './protected-resource.ts';
import { readUnreadId } from './unread-id.ts';

export interface GatewayRoutesDeps {
  guard: Guard;
  /** A POST of either era. */
  post: ReturnType<typeof createPost>;
  legacy: Pick<ReturnType<typeof createLegacyHandler>, 'get' | 'remove' | 'deny'>;
  origins: OriginPolicy;
  publicUrl: string;
  /** Bytes of a request's body, at most. */
  bodyBytes: number;
  /** Takes a request whose session another process holds; undefined where this one serves it. */
  passOn?: (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
  onProtocolError(status: number, code: number): void;
  /** Ends streams when the service stops. */
  onClose(): void;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the gateway's routes, once the caller is proven. */
    caller: Caller | null;
    /** Set instead where the token is good and this data plane may let nobody act. */
    denied: Deny | null;
  }
}

const MAX_REQUESTER_LENGTH = 256;
const MAX_SERVER_ID_LENGTH = 256;
const ALLOWED_METHODS = 'GET, POST, DELETE';
const ALLOWED_HEADERS =
  'authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, x-requester-id';
/** The names of these come from the tools' schemas. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const MAX_PARAM_HEADERS = 32;
/** Where this data plane may let nobody act, all share one room for their bodies. */
const NOBODY = { tenantId: '', agent: { id: '' } };

/** Builds the plugin. It is mounted without a prefix and changes nothing outside itself. */
export function gatewayRoutes(deps: GatewayRoutesDeps): FastifyPluginAsync {
  return async (app) => {
    app.decorateRequest('caller', null);
    app.decorateRequest('denied', null);
    const bodies = createBodyRoom(deps.bodyBytes);
    const places = new WeakMap<FastifyRequest, BodyPlace>();
    app.removeAllContentTypeParsers();
    const turns = createBodyTurns();
    // Bytes, since only strict-json may make a value of them.
    app.addContentTypeParser<Buffer>(
      'application/json',
      { parseAs: 'buffer', bodyLimit: deps.bodyBytes },
      (request, body, done) => {
        places.get(request)?.arrived(body.length);
        const turn = turns.take(holderOf(request), body.length);
        if (turn === undefined) done(null, body);
        else turn.then(() => done(null, body), done);
      },
    );
    app.setErrorHandler((error: FastifyError | GatewayError, request, reply) => {
      if (!isUnauthorized(error)) return answerError(error, request, reply, deps, null);
      return readUnreadId(request).then((id) => answerError(error, request, reply, deps, id));
    });
    app.addHook('preClose', async () => deps.onClose());
    app.addHook('preParsing', (request, reply, _payload, done) => {
      try {
        const place = bodies.take(request.caller ?? NOBODY, request.headers);
        places.set(request, place);
        reply.raw.once('close', place.give);
        done();
      } catch (error) {
        done(error as Error);
      }
    });

    for (const path of metadataPaths(deps.publicUrl)) {
      const addressOf = (request: FastifyRequest) =>
        addressFor(deps.publicUrl, request.headers.host);
      app.get(path, async (request) => protectedResource(addressOf(request), null));
      app.get<{ Params: { server_id: string } }>(`${path}/:server_id`, async (request) =>
        protectedResource(addressOf(request), request.params.server_id),
      );
    }

    for (const url of ['/mcp/v1', '/mcp/v1/:server_id']) {
      const onRequest = enter(deps);
      const route = (
        method: 'GET' | 'POST' | 'DELETE',
        handle: (caller: Caller, request: FastifyRequest, reply: FastifyReply) => unknown,
      ) => {
        const handler: RouteHandlerMethod = async (request, reply) => {
          if (request.denied) deps.legacy.deny(request.denied, request, reply);
          else await handle(callerOf(request), request, reply);
          return reply;
        };
        app.route({ method, url, onRequest, handler, exposeHeadRoute: false });
      };
      route('POST', deps.post);
      route('GET', sessionsOnly(deps.legacy.get));
      route('DELETE', sessionsOnly(deps.legacy.remove));
      app.options(url, async (request, reply) => {
        checkOrigin(request, reply, deps);
        return reply
          .code(204)
          .header('access-control-allow-methods', ALLOWED_METHODS)
          .header('access-control-allow-headers', allowedHeaders(request))
          .header('access-control-max-age', '600')
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

/** There is no session of a modern revision: all that it has is POSTed. */
function sessionsOnly(
  handle: (caller: Caller, request: FastifyRequest, reply: FastifyReply) => unknown,
) {
  return (caller: Caller, request: FastifyRequest, reply: FastifyReply): unknown => {
    if (request.headers['mcp-protocol-version'] !== MODERN_REVISION) {
      return handle(caller, request, reply);
    }
    reply.header('allow', 'POST');
    throw new GatewayError(405, `MCP ${MODERN_REVISION} has POST alone.`);
  };
}

function allowedHeaders({ headers }: FastifyRequest): string {
  const asked = (headers['access-control-request-headers'] ?? '').slice(0, 8192).split(',');
  const params = asked.map((name) => name.trim().toLowerCase());
  const found = params.filter((name) => PARAM_HEADER.test(name)).slice(0, MAX_PARAM_HEADERS);
  return [ALLOWED_HEADERS, ...found].join(', ');
}

function holderOf({ caller, ip }: FastifyRequest): BodyHolder {
  if (caller === null) return { tenantId: ip, callerId: ip };
  return { tenantId: caller.tenantId, callerId: caller.agent.id };
}

function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('the route was reached without a caller');
  return request.caller;
}

/** Lets a request in. By callback, since at nearly every request there is nothing to wait for. */
function enter(deps: GatewayRoutesDeps): onRequestHookHandler {
  return (request, reply, done) => {
    try {
      checkOrigin(request, reply, deps);
      const passed = deps.passOn?.(request, reply);
      if (passed !== undefined) {
        // Who it is for answers it: nothing more happens here unless that fails.
        passed.catch(done);
        return;
      }
      const arrivedAt = performance.now();
      const { server_id: serverId = null } = request.params as { server_id?: string };
      const credential = parseCredential(request.headers.authorization);
      const found = deps.guard.identify(credential, serverId);
      if (!(found instanceof Promise)) {
        setCaller(request, found, credential, serverId, arrivedAt);
        done();
        return;
      }
      found
        .then((identity) => setCaller(request, identity, credential, serverId, arrivedAt))
        .then(() => done(), done);
    } catch (error) {
      done(error as Error);
    }
  };
}

function checkOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  { origins }: GatewayRoutesDeps,
): void {
  const { origin } = request.headers;
  if (!origins.isAllowed(origin)) throw new GatewayError(403, 'This Origin is not allowed.');
  if (origin === undefined) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', 'mcp-session-id, www-authenticate');
  reply.header('vary', 'origin');
}

function setCaller(
  request: FastifyRequest,
  identity: Identity | Deny,
  credential: Credential,
  serverId: string | null,
  arrivedAt: number,
): void {
  if ('kind' in identity) {
    if (identity.cause !== 'plane') throw unauthorized(identity);
    request.denied = identity;
    return;
  }
  if (serverId !== null && (serverId.length > MAX_SERVER_ID_LENGTH || !isStorableText(serverId))) {
    throw new GatewayError(404, 'No such MCP server.');
  }
  const { tenantId, agent, bar } = identity;
  const requesterId = readRequester(request.headers['x-requester-id']);
  const { id: requestId } = request;
  const hops = readHops(request.headers[HOPS_HEADER]);
  const caller = { tenantId, agent, credential, serverId, requesterId, requestId, arrivedAt, hops };
  request.caller = bar ? { ...caller, bar } : caller;
}

function readRequester(header: string | string[] | undefined): string | null {
  if (header === undefined || header === '') return null;
  if (typeof header !== 'string' || header.length > MAX_REQUESTER_LENGTH) {
    throw new GatewayError(400, `X-Requester-Id has at most ${MAX_REQUESTER_LENGTH} characters.`);
  }
  return header;
}

function isUnauthorized(error: FastifyError | GatewayError): boolean {
  return error instanceof GatewayError && error.code === RPC_ERRORS.UNAUTHORIZED;
}

function unauthorized(deny: Deny): GatewayError {
  const status = deny.isForAnotherPath ? 403 : 401;
  return new GatewayError(
    status,
    deny.message,
    RPC_ERRORS.UNAUTHORIZED,
    deny.challenge ?? 'bearer',
  );
}

function answerError(
  error: FastifyError | GatewayError,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayRoutesDeps,
  id: RpcId | null,
): FastifyReply {
  const { status, code, message } = describe(error);
  if (status >= 500 && status !== 503) {
    request.log.error({ err: error }, 'the gateway failed');
  }
  deps.onProtocolError(status, code);
  if (error instanceof GatewayError && error.challenge !== undefined) {
    const { server_id: serverId = null } = request.params as { server_id?: string };
    const fault = request.headers.authorization === undefined ? null : 'invalid_token';
    const why = error.status === 403 ? 'insufficient_scope' : fault;
    const address = addressFor(deps.publicUrl, request.headers.host);
    const header = challengeHeader(address, serverId, error.challenge, why);
    reply.header('www-authenticate', header);
  }
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(errorText(id, code, message, error instanceof GatewayError ? error.data : undefined));
}

function describe(error: FastifyError | GatewayError): {
  status: number;
  code: number;
  message: string;
} {
  if (error instanceof GatewayError) return error;
  if (error instanceof BodiesBusyError) {
    return { status: 503, code: RPC_ERRORS.INTERNAL, message: error.message };
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) return { status: 500, code: RPC_ERRORS.INTERNAL, message: 'Internal error' };
  const message = CLIENT_ERRORS[status] ?? 'The request is malformed.';
  return { status, code: RPC_ERRORS.INVALID_REQUEST, message };
}

const CLIENT_ERRORS: Record<number, string> = {
  413: 'The body is larger than this route accepts.',
  415: 'The content type must be application/json.',
};
