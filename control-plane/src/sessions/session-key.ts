/**
 * Calls belong to one session if they have the same agent, requester and, where the client has one,
 * protocol session. Names are taken as they arrive, hashed if the tenant wants that
 * (docs/data-protection.md).
 */
import { hash } from 'node:crypto';
import type { DecisionRecord } from '@governance/shared/ledger/ledger-record';
import { listedTime } from '../platform/database/record-time.ts';

/** Characters of a requester's name that are stored for display. */
const MAX_SHOWN = 256;

/** What data protection writes in place of a name that it could not hash. */
export const REMOVED_NAME = '[REDACTED]';

/** @returns the key of a decision's session */
export function sessionKeyOf({ agent_id, requester_id, session_id }: DecisionRecord): string {
  return keyOf('session', agent_id.toLowerCase(), requester_id, session_id);
}

/** @returns the key of the requester of the decision's call; of the agent where it names nobody */
export function requesterKeyOf({ agent_id, requester_id }: DecisionRecord): string {
  if (requester_id === null) return keyOf('agent', agent_id.toLowerCase());
  return keyOf('requester', requester_id);
}

/** @returns the requester's display name */
export function shownRequester({ requester_id }: DecisionRecord): string | null {
  return requester_id === null ? null : requester_id.slice(0, MAX_SHOWN).toWellFormed();
}

/**
 * @returns a UUID of version 8 made from a hash of the parts: short in an index, however long they
 *   are
 */
export function keyOf(...parts: (string | null)[]): string {
  const digits = hash('sha256', JSON.stringify(parts));
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

/**
 * The effective time of a record: an impossible time becomes the present.
 *
 * @param now Unix milliseconds
 */
export function timeOf({ timestamp }: Pick<DecisionRecord, 'timestamp'>, now: number): number {
  return listedTime(Date.parse(timestamp), now);
}
