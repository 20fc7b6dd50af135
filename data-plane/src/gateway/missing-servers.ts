/**
 * The servers missing from a list of the unified gateway: the result names them, so that the agent
 * knows there is more, and their health says why, for the administrator.
 */
import type { ServerNote } from '../upstream/health/server-notes.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../upstream/upstream.ts';

/** The member of a result's `_meta`. */
export const MISSING_SERVERS = 'agent-governance/missingServers';

/** The answer to an agent, with nothing that the server itself said. */
export interface MissingServer {
  server_id: string;
  failure: UpstreamFailureKind | 'internal';
}

/** The result's member that names what is missing; empty where nothing is. */
export function missingMeta(missing: readonly MissingServer[]): { _meta?: object } {
  return missing.length === 0 ? {} : { _meta: { [MISSING_SERVERS]: missing } };
}

/** Why a server is missing, in the agent's answer. */
export function missingServer(serverId: string, error: unknown): MissingServer {
  return {
    server_id: serverId,
    failure: error instanceof UpstreamFailure ? error.kind : 'internal',
  };
}

/**
 * The note for the server's health; null where there is nothing to note. A missing answer is
 * counted where servers are asked.
 */
export function missingNote(error: unknown): ServerNote | null {
  if (!(error instanceof UpstreamFailure)) return null;
  const reason = `missing from unified lists: ${error.message}`;
  switch (error.kind) {
    case 'refused':
    case 'malformed':
    case 'too_large':
    case 'unsupported':
    case 'loop':
      return { health: 'failing', reason };
    case 'busy':
    case 'no_room':
      return { health: 'ok', reason };
    default:
      return null;
  }
}
