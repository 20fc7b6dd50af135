/**
 * A standing exception: it lifts escalations of its shape, or what one policy denies one agent,
 * until its time is over.
 *
 * pending → active → revoked or expired; pending → rejected. Only an exception that lifts a denial,
 * in a tenant that requires a second person, is `pending`. Its time runs from the request on.
 */

import type { ExceptionLifts } from '@governance/shared/channel/exceptions';
import type { ExceptionFact, NewFact } from '@governance/shared/channel/facts';
import { HOUR_MS } from '@governance/shared/time/durations';
import { z } from 'zod';

export const ExceptionStatus = z.enum(['pending', 'active', 'revoked', 'expired', 'rejected']);
export type ExceptionStatus = z.infer<typeof ExceptionStatus>;

export const MIN_JUSTIFICATION = 10;

/** Counts characters: one beyond U+FFFF has two UTF-16 units. */
export function isJustification(text: string): boolean {
  return [...text.trim()].length >= MIN_JUSTIFICATION;
}

/** The longest duration of an exception or extension, in hours. */
export const MAX_HOURS = 8_760;
/** The longest time that a denial is lifted, extensions included, in hours. */
export const MAX_DENY_HOURS = 720;
export const DEFAULT_MAX_EXTENSIONS = 4;
/** The duration of an exception created with an approval, in hours. */
export const HOURS_WITH_APPROVAL = 24;

/** What the exception is limited to; null sets no limit. */
export interface ExceptionTarget {
  agentId: string | null;
  mcpServer: string | null;
  toolName: string | null;
  /** As in `target:` of a role's scopes; empty, made with an approval: calls without any target. */
  resource: string | null;
  policyId: string | null;
}

export interface NewException extends ExceptionTarget {
  lifts: ExceptionLifts;
  justification: string;
  hours: number;
  maxExtensions: number;
  /** The escalation that it is made with. */
  escalationId: string | null;
}

export interface StandingException extends ExceptionTarget {
  id: string;
  status: ExceptionStatus;
  lifts: ExceptionLifts;
  justification: string;
  escalationId: string | null;
  extensionCount: number;
  maxExtensions: number;
  createdById: string;
  createdBy: string;
  reviewedBy: string | null;
  reviewedAt: Date | null;
  notes: string | null;
  revokedBy: string | null;
  revokedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
}

/** The status at a time: one whose time is over is expired, even before the task marks it. */
export function statusAt({ status, expiresAt }: StandingException, at: Date): ExceptionStatus {
  const isOpen = status === 'active' || status === 'pending';
  return isOpen && expiresAt <= at ? 'expired' : status;
}

export function after(at: Date, hours: number): Date {
  return new Date(at.getTime() + hours * HOUR_MS);
}

/** Whether an exception that lifts a denial would do so for too long. */
export function isTooLong({ createdAt }: StandingException, expiresAt: Date): boolean {
  return expiresAt > after(createdAt, MAX_DENY_HOURS);
}

/** The exception's shape, on the wire and in the audit chain. */
export function targetOf(exception: ExceptionTarget & { lifts: ExceptionLifts }) {
  const { lifts, agentId, mcpServer, toolName, resource, policyId } = exception;
  return {
    lifts,
    ...{ agent_id: agentId, mcp_server: mcpServer, tool_name: toolName },
    ...{ resource, policy_id: policyId },
  };
}

type OfException = Extract<NewFact, { kind: 'optional.exception' }>;

export function toFact(exception: StandingException): OfException {
  const value: ExceptionFact = {
    id: exception.id,
    ...targetOf(exception),
    expires_at: exception.expiresAt.toISOString(),
  };
  return { kind: 'optional.exception', key: exception.id, value };
}

/** Withdraws the fact. */
export function toTombstone({ id }: StandingException): OfException {
  return { kind: 'optional.exception', key: id, value: null };
}
