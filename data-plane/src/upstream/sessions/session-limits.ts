/** How many sessions with MCP servers there may be: of one agent, of one tenant, of all. */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';

/** Whom a session, or its process, counts for. */
export interface SessionOwner {
  tenantId: string;
  agentId: string;
  /** The client that owns it. */
  peerId: string | undefined;
  /** That is no client but several: it counts as the agent's. */
  isShared?: boolean | undefined;
  transport: McpServerSetting['transport'];
}

export interface SessionLimit {
  max: number;
  isMeant(owner: SessionOwner): boolean;
  /** What the one beyond it is told. */
  full: string;
}

export interface SessionNumbers {
  maxSessions: number;
  maxProcesses: number;
  /** Processes that the clients of one agent may have of their own. */
  maxOwnProcesses: number;
}

export type FindSessionLimits = (owner: SessionOwner) => SessionLimit[];

/** Sessions over HTTP that the clients of one agent may have of their own. */
const MAX_OWN_SESSIONS = 64;

/**
 * Since a client may hold a process for as long as it likes, no agent and, where there are several,
 * no tenant can have them all.
 *
 * @returns the limits that count for a session, the narrowest first
 */
export function createSessionLimits(
  numbers: SessionNumbers,
  servesSeveral: () => boolean,
): FindSessionLimits {
  return ({ tenantId, agentId, transport, ...owner }) => {
    const isSame = (one: SessionOwner) => one.transport === transport;
    const isTenants = (one: SessionOwner) => isSame(one) && one.tenantId === tenantId;
    const isAgentsOwn = (one: SessionOwner) =>
      isTenants(one) && one.agentId === agentId && isOwn(one);
    const limits: SessionLimit[] = [];
    if (transport === 'streamable-http') {
      const full = 'Busy: too many sessions with MCP servers are in use. Try again later.';
      if (isOwn(owner)) limits.push({ max: MAX_OWN_SESSIONS, isMeant: isAgentsOwn, full });
      return [...limits, { max: numbers.maxSessions, isMeant: isSame, full }];
    }
    const { maxProcesses, maxOwnProcesses } = numbers;
    if (isOwn(owner)) {
      const many = `the ${maxOwnProcesses} processes that an agent's clients may have of their own`;
      const full = `Busy: ${many} (SERVICE_UPSTREAM_MAX_PROCESSES_PER_AGENT) are in use. End an MCP session that is not needed any more (DELETE), or try again later.`;
      limits.push({ max: maxOwnProcesses, isMeant: isAgentsOwn, full });
    }
    if (servesSeveral()) {
      const full =
        'Busy: half of the processes of stdio MCP servers are in use by this tenant. Try again later.';
      limits.push({ max: Math.ceil(maxProcesses / 2), isMeant: isTenants, full });
    }
    const full =
      'Busy: all processes of stdio MCP servers (SERVICE_UPSTREAM_MAX_PROCESSES) are in use. Try again later.';
    return [...limits, { max: maxProcesses, isMeant: isSame, full }];
  };
}

function isOwn({ peerId, isShared }: Pick<SessionOwner, 'peerId' | 'isShared'>): boolean {
  return peerId !== undefined && !isShared;
}
