/** One change of a policy, and how its state before and after it compare. */
import type { PolicySource } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { changedFields, type Policy, type PolicyChange } from './policy.ts';
import type { NewPolicyBody } from './policy-schemas.ts';

/** A policy before (undefined when it is new) and after a change. */
export interface Step {
  before: Policy | undefined;
  after: Policy;
  /** Its author gave its source; otherwise that of the row stays. */
  hasSource?: boolean;
  /** What else the transaction of a reviewed change writes. */
  record?: (tx: TenantTransaction) => Promise<void>;
}

/** An approved change request may propose what the policy is already. */
export function isUnchanged(before: Policy | undefined, after: Policy): boolean {
  return before !== undefined && changedFields(before, after).length === 0;
}

export function isLarger(before: Policy | undefined, after: Policy): boolean {
  const sizeOf = ({ regoContent, description }: Policy) =>
    Buffer.byteLength(regoContent) + Buffer.byteLength(description);
  return before === undefined || sizeOf(after) > sizeOf(before);
}

export function stepOf(before: Policy, change: PolicyChange, now: Date): Step {
  const hasSource = change.regoContent !== undefined;
  return { before, after: changed(before, change, now), hasSource };
}

function changed(before: Policy, change: PolicyChange, now: Date): Policy {
  const after = { ...before, ...definedFields(change) };
  return changedFields(before, after).length > 0 ? { ...after, updatedAt: now } : before;
}

export function newPolicy(body: NewPolicyBody, now: Date): Policy {
  return {
    id: uuidv7(now.getTime()),
    name: body.name,
    description: body.description,
    regoContent: body.rego_content,
    status: body.status,
    origin: 'custom',
    createdAt: now,
    updatedAt: now,
  };
}

function definedFields(change: PolicyChange): PolicyChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

export function toSource({ id, name, regoContent }: Policy): PolicySource {
  return { id, name, rego: regoContent };
}

export function withPolicy(active: PolicySource[], policy: Policy): PolicySource[] {
  return [...active.filter(({ id }) => id !== policy.id), toSource(policy)];
}
