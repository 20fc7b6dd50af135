/**
 * From an HTTP request to its caller. Origin and the credential are checked before a body is read,
 * so that no unknown client makes the service read megabytes.
 */
import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { RPC_ERRORS } from '@governance/shared/errors';
import { ownAddresses } from '@governance/shared/outbound/own-addresses';
import { isSeen, isStorableText } from '@governance/shared/text';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller, Credential, Deny, WorkflowHeaders } from '../enforcement/call/calls.ts';
import { agentKeyOf } from '../enforcement/permission/eligibility.ts';
import type { Door, Identity } from '../enforcement/steps/authenticate.ts';
import { HOPS_HEADER, readHops } from '../upstream/hops.ts';
import type { BodyPlace } from './caller-bodies.ts';
import { GatewayError, type RpcId } from './json-rpc.ts';

/**
 * Which pages may reach the gateway (MCP, Streamable HTTP: servers must check Origin). Compared
 * with configured origins, never with the Host header: a page that rebinds its own name to this
 * address sends that name in both.
 *
 * @param publicUrl the service's own address; on a loopback address its other names count as own
 * @param allowed SERVICE_CORS_ORIGINS_STR: origins as browsers write them, or `*`
 */
export function createOriginPolicy(publicUrl: string, allowed: readonly string[]) {
  const origins = new Set([
    ...ownAddresses(publicUrl).map((address) => new URL(address).origin),
    ...allowed,
  ]);
  const everyone = origins.has('*');
  return {
    /**
     * Whether a request with this Origin is served; a request without one does not come from a
     * page.
     */
    isAllowed: (text: string | undefined): boolean =>
      text === undefined || everyone || origins.has(text.toLowerCase()),
  };
}

export interface ArrivalDeps {
  door: Pick<Door, 'identify'>;
  origins: ReturnType<typeof createOriginPolicy>;
  /**
   * Passes on a request whose session another process holds; undefined where this one serves it.
   */
  passOn?: (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
  /**
   * Passes on a request of an agent whose call another process holds; undefined where none does.
   *
   * @returns false when that process is down
   */
  passHeld?: (
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller,
  ) => Promise<boolean> | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the gateway's routes, once the caller is authenticated. */
    caller: Caller | null;
    /** Set instead where the token is valid but this data plane denies all calls. */
    denied: Deny | null;
    /** The room in memory that is taken for its body. */
    bodyPlace: BodyPlace | null;
    /** The id of its JSON-RPC request, once the body is parsed. */
    rpcId: RpcId | null;
  }
}

const MAX_REQUESTER_LENGTH = 256;
const MAX_SERVER_ID_LENGTH = 256;

/**
 * Admits a request and sets its caller. By callback, since nearly every request needs no waiting.
 */
export function enter(deps: ArrivalDeps): onRequestHookHandler {
  return (request, reply, done) => {
    try {
      checkOrigin(request, reply, deps);
      const passed = deps.passOn?.(request, reply);
      if (passed !== undefined) {
        // The process it was passed to answers it: nothing more happens here unless that fails.
        passed.catch(done);
        return;
      }
      const arrivedAt = performance.now();
      const { server_id: serverId = null } = request.params as { server_id?: string };
      const credential = parseCredential(request.headers.authorization);
      const admit = (identity: Identity | Deny) =>
        setCaller(request, reply, { identity, credential, serverId, arrivedAt });
      const found = deps.door.identify(credential, { serverId, requestId: request.id });
      if (found instanceof Promise) {
        found.then(admit).then(() => arrive(request, reply, deps, done), done);
        return;
      }
      admit(found);
      arrive(request, reply, deps, done);
    } catch (error) {
      done(error as Error);
    }
  };
}

/** Serves the request, unless it belongs to a process that holds a call of its agent. */
function arrive(
  request: FastifyRequest,
  reply: FastifyReply,
  { passHeld }: ArrivalDeps,
  done: (error?: Error) => void,
): void {
  try {
    const passed = request.caller && passHeld?.(request, reply, request.caller);
    if (passed) {
      passed.then((isPassed) => (isPassed ? undefined : done()), done);
      return;
    }
  } catch (error) {
    done(error as Error);
    return;
  }
  done();
}

/** Refuses a page that may not reach the gateway. */
export function checkOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  { origins }: Pick<ArrivalDeps, 'origins'>,
): void {
  const { origin } = request.headers;
  if (!origins.isAllowed(origin)) throw new GatewayError(403, 'This Origin is not allowed.');
  if (origin === undefined) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', 'mcp-session-id, www-authenticate, x-event-id');
  reply.header('vary', 'origin');
}

/** Whether a record can hold the id. It is empty for `/mcp/v1/`, which the router takes for one. */
function isServerId(serverId: string): boolean {
  return serverId !== '' && serverId.length <= MAX_SERVER_ID_LENGTH && isStorableText(serverId);
}

/** What is known of a request before its body is read. */
interface Arrived extends Pick<Caller, 'credential' | 'serverId' | 'arrivedAt'> {
  readonly identity: Identity | Deny;
}

function setCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { identity, credential, serverId, arrivedAt }: Arrived,
): void {
  if ('kind' in identity) {
    if (identity.cause !== 'plane') throw unauthorized(identity);
    request.denied = identity;
    return;
  }
  if (serverId !== null && !isServerId(serverId))
    throw new GatewayError(404, 'No such MCP server.');
  const { tenantId, agent, proof, ineligibility } = identity;
  const requesterId = readRequester(request.headers['x-requester-id']);
  const hops = readHops(request.headers[HOPS_HEADER]);
  request.caller = {
    tenantId,
    agent,
    key: agentKeyOf(tenantId, agent.id),
    ineligibility,
    credential,
    proof,
    serverId,
    sessionId: null,
    requesterId,
    workflow: readWorkflow(request, reply),
    requestId: request.id,
    peer: undefined,
    era: undefined,
    hops,
    arrivedAt,
  };
}

/** Longer ones are refused before anything is computed over them. */
const MAX_CREDENTIAL_LENGTH = 8192;

const NONE: Credential = { kind: 'none' };
const MALFORMED_BEARER: Credential = { kind: 'malformed', challenge: 'bearer' };
const MALFORMED_BASIC: Credential = { kind: 'malformed', challenge: 'basic' };

/**
 * Reads an Authorization header (specification 1, section 5: Bearer, or Basic with client id and
 * secret). Never throws.
 */
export function parseCredential(header: string | undefined): Credential {
  if (header === undefined || header === '') return NONE;
  if (header.length > MAX_CREDENTIAL_LENGTH) return MALFORMED_BEARER;
  const space = header.indexOf(' ');
  const scheme = (space < 0 ? header : header.slice(0, space)).toLowerCase();
  const value = space < 0 ? '' : header.slice(space + 1).trim();
  if (scheme === 'bearer' && value !== '') {
    return { kind: 'bearer', token: value, tokenHash: hash('sha256', value, 'base64') };
  }
  if (scheme === 'basic') return parseBasic(value);
  return MALFORMED_BEARER;
}

function parseBasic(value: string): Credential {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return MALFORMED_BASIC;
  return {
    kind: 'basic',
    clientId: text.slice(0, colon),
    secretHash: hash('sha256', text.slice(colon + 1), 'buffer'),
  };
}

function readRequester(header: string | string[] | undefined): string | null {
  if (header === undefined || header === '') return null;
  const requester = typeof header === 'string' ? inUtf8(header) : null;
  if (requester === null || requester.length > MAX_REQUESTER_LENGTH) {
    throw new GatewayError(400, `X-Requester-Id has at most ${MAX_REQUESTER_LENGTH} characters.`);
  }
  if (!isSeen(requester)) {
    throw new GatewayError(
      400,
      'X-Requester-Id has characters, or blanks at its ends, that nobody sees.',
    );
  }
  return requester;
}

/** A byte order mark is one of the requester's characters, and refused as such. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A header's value, which Node reads as Latin-1: as UTF-8 where its bytes are that. */
function inUtf8(header: string): string {
  if (isAscii(header)) return header;
  try {
    return UTF_8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Undefined for nearly every request. Its content is judged with each call. */
function readWorkflow(
  { headers }: FastifyRequest,
  reply: FastifyReply,
): WorkflowHeaders | undefined {
  const sessionToken = readOnce(headers['x-workflow-session']);
  const delegationToken = readOnce(headers['x-delegation-token']);
  const parentEventId = readOnce(headers['x-parent-event-id']);
  if (sessionToken === null && delegationToken === null && parentEventId === null) return undefined;
  let isAnnounced = false;
  const announceEvent = (eventId: string) => {
    // The call's own id, not that of a question within it.
    if (isAnnounced || reply.sent || reply.raw.headersSent) return;
    isAnnounced = true;
    reply.header('x-event-id', eventId);
  };
  const announceAgain = () => {
    isAnnounced = false;
  };
  return { sessionToken, delegationToken, parentEventId, announceEvent, announceAgain };
}

/** An empty header counts as present and invalid. */
function readOnce(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  return typeof header === 'string' ? header : header.join(',');
}

function unauthorized(deny: Deny): GatewayError {
  const { message, challenge = 'bearer', isForAnotherPath } = deny;
  const status = isForAnotherPath ? 403 : 401;
  return new GatewayError(status, message, RPC_ERRORS.UNAUTHORIZED, challenge);
}
