/**
 * A policy and its states.
 *
 * draft → active → archived, and back: an archived policy may be restored to draft or active, an
 * active one may be taken back to draft. Only active policies decide. Every policy, a draft too,
 * compiles on its own at the moment it is stored; the active ones of a tenant compile together.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AdminAction } from '../platform/database/tenant-scope.ts';

export const PolicyStatus = z.enum(['draft', 'active', 'archived']);
export type PolicyStatus = z.infer<typeof PolicyStatus>;

/** UTF-8 bytes of one source. */
export const MAX_SOURCE_BYTES = 128 * 1024;
/** UTF-8 bytes of all sources of a tenant: one list shows them all, and none can be deleted. */
export const MAX_BYTES_OF_TENANT = 32 * 1024 * 1024;

export interface Policy {
  id: string;
  name: string;
  description: string;
  regoContent: string;
  status: PolicyStatus;
  origin: 'baseline' | 'custom';
  createdAt: Date;
  updatedAt: Date;
}

export type PolicyChange = Partial<Pick<Policy, 'name' | 'description' | 'regoContent' | 'status'>>;

const CHANGEABLE = ['name', 'description', 'regoContent', 'status'] as const;

/** The changeable fields in which two states of a policy differ. */
export function changedFields(before: Policy, after: Policy): (keyof PolicyChange)[] {
  return CHANGEABLE.filter((field) => before[field] !== after[field]);
}

/**
 * Whether the bundle differs after the change: the active set gains, loses or changes a member.
 * Names count, since reasons carry them; descriptions do not.
 */
export function affectsDecisions(before: Policy | undefined, after: Policy): boolean {
  const was = before?.status === 'active';
  const is = after.status === 'active';
  if (!was && !is) return false;
  if (was !== is) return true;
  return before?.name !== after.name || before.regoContent !== after.regoContent;
}

/** Whether a policy decides, before the change or after it. */
export function isAboutActive(before: Policy | undefined, after: Policy): boolean {
  return before?.status === 'active' || after.status === 'active';
}

/** A string, a raw string or a comment. Each alternative takes a character, so it is linear in time. */
const NO_CODE = /"(?:[^"\\\n]|\\.)*"?|`[^`]*`?|#.*/g;

/**
 * What its author should know of a source that compiles. A rule that is misspelt (`denies`) decides
 * nothing, and nothing else would say so.
 */
export function findPolicyWarnings(regoContent: string): string[] {
  const code = regoContent.replace(NO_CODE, ' ');
  if (/\b(?:deny|escalate|allow)\b/.test(code)) return [];
  return ['It has no rule deny, escalate or allow: it decides nothing.'];
}

/** What an audit record says of a policy, and what is attested of its row. */
export interface Recorded {
  name: string;
  status: string;
  /** Proves which source it was; the source itself stays in its table. */
  rego_sha256: string;
}

export const recordedOf = ({
  name,
  status,
  regoContent,
}: Pick<Policy, 'name' | 'regoContent'> & { status: string }): Recorded => ({
  name,
  status,
  rego_sha256: hash('sha256', regoContent, 'hex'),
});

/** The target of the audit records about a policy. */
export const targetOf = (id: string): string => `policy/${id}`;

/** The audit record of a policy's creation (`before` undefined) or change. */
export function auditOf(before: Policy | undefined, after: Policy): AdminAction {
  return {
    action: before ? auditAction(before.status, after.status) : 'policy_created',
    target: targetOf(after.id),
    details: {
      ...recordedOf(after),
      ...(before && { status_before: before.status, changed: changedFields(before, after) }),
    },
  };
}

/** The audit action for a change of status. */
function auditAction(before: PolicyStatus, after: PolicyStatus): string {
  if (before === after) return 'policy_updated';
  if (after === 'active') return 'policy_activated';
  if (after === 'archived') return 'policy_archived';
  return before === 'archived' ? 'policy_restored' : 'policy_deactivated';
}
