/** The session that a request names in its headers, and the caller and revision it gives. */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../enforcement/calls.ts';
import { GatewayError } from '../json-rpc.ts';
import { ASSUMED_REVISION, isLegacyRevision, type LegacyRevision } from '../revisions.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

/** Null where the request names none. Throws GatewayError 404 where there is no such session. */
export function findSession(
  sessions: Pick<LegacySessions, 'find'>,
  { tenantId, agent, serverId }: Caller,
  { headers }: FastifyRequest,
): LegacySession | null {
  const token = headers['mcp-session-id'];
  if (token === undefined) return null;
  const owner = { tenantId, agentId: agent.id, serverId };
  const session = typeof token === 'string' ? sessions.find(token, owner) : undefined;
  // 404 tells a client to initialize again (MCP, session management).
  if (session === undefined) throw new GatewayError(404, 'No such session.');
  return session;
}

/** A client without a session cannot be notified of anything. */
export function requireSession(session: LegacySession | null): LegacySession {
  if (session !== null) return session;
  throw new GatewayError(400, 'The header Mcp-Session-Id is missing.');
}

/** That of the session. Throws GatewayError where the header names one that is no legacy one. */
export function revisionOf(
  { headers }: FastifyRequest,
  session: LegacySession | null,
): LegacyRevision {
  const header = headers['mcp-protocol-version'];
  if (header === undefined) return session?.revision ?? ASSUMED_REVISION;
  if (!isLegacyRevision(header)) {
    throw new GatewayError(400, 'Unsupported MCP-Protocol-Version.');
  }
  return session?.revision ?? header;
}

/** The caller in its session; the peer that servers ask through learns the current caller. */
export function inSession(caller: Caller, session: LegacySession | null): Caller {
  if (session === null) return caller;
  const { id: sessionId, peer } = session;
  const own = { ...caller, sessionId, peer: peer ?? undefined };
  if (peer !== null) peer.caller = own;
  return own;
}
