/**
 * A proposed change of a policy. It holds the whole reviewed content (base) and the whole proposed
 * content, under one digest: exactly what was proposed is approved, and only while the policy is
 * unchanged.
 */
import { hash } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { z } from 'zod';
import type { Policy } from '../policy.ts';
import {
  type Difference,
  describeDifference,
  differencesOf,
  type PolicyContent,
} from './difference.ts';

export const ChangeRequestStatus = z.enum(['pending', 'approved', 'rejected']);
export type ChangeRequestStatus = z.infer<typeof ChangeRequestStatus>;

/** The most pending requests of a policy, and of a tenant. */
export const MAX_PENDING_OF_POLICY = 20;
export const MAX_PENDING_OF_TENANT = 200;
/** Decided requests kept per policy; the audit chain has all decisions. */
export const MAX_DECIDED_OF_POLICY = 100;
export const MAX_OF_POLICY = MAX_PENDING_OF_POLICY + MAX_DECIDED_OF_POLICY;

export interface ChangeRequest {
  id: string;
  policyId: string;
  status: ChangeRequestStatus;
  summary: string;
  base: PolicyContent;
  proposed: PolicyContent;
  digest: string;
  authorId: string;
  author: string;
  reviewer: string | null;
  notes: string | null;
  createdAt: Date;
  updatedAt: Date;
  reviewedAt: Date | null;
}

/** What a replay of recorded decisions found about the proposal. */
export interface ReplayOfProposal {
  id: string;
  status: string;
  fromTime: Date;
  toTime: Date;
  judged: number;
  changed: number;
  transitions: { before: string; after: string; count: number }[];
}

/** A request as a reviewer sees it. */
export interface LookedAt {
  request: ChangeRequest;
  changes: Difference[];
  /** How the policy has changed since the proposal; null once the request was decided. */
  changedSince: Difference[] | null;
  replay: ReplayOfProposal | null;
}

export function contentOf(policy: PolicyContent): PolicyContent {
  const { name, description, regoContent, status } = policy;
  return { name, description, regoContent, status };
}

/** SHA-256 over RFC 8785 of the policy's id, the base and the proposed content. */
export function digestOf(request: Pick<ChangeRequest, 'policyId' | 'base' | 'proposed'>): string {
  const toWire = ({ name, description, regoContent: rego_content, status }: PolicyContent) => ({
    ...{ name, description, rego_content, status },
  });
  const text = canonicalize({
    policy_id: request.policyId,
    base: toWire(request.base),
    proposed: toWire(request.proposed),
  });
  return hash('sha256', text, 'hex');
}

/** How the policy has changed since the proposal; empty while the proposal applies. */
export function changesSince({ base }: ChangeRequest, policy: PolicyContent): Difference[] {
  return differencesOf(base, contentOf(policy));
}

/** @throws AppError CHANGE_REQUEST_OUTDATED with what has changed since */
export function requireApplies(request: ChangeRequest, policy: Policy): void {
  const since = changesSince(request, policy);
  if (since.length === 0) return;
  const fields = since.map(({ field }) => field).join(', ');
  throw new AppError(
    'CHANGE_REQUEST_OUTDATED',
    `The policy has changed since, in ${fields}: propose the change again.`,
    {
      errors: since.map((difference) => ({
        loc: ['policy', difference.field],
        msg: describeDifference(difference),
        type: 'changed_since',
      })),
    },
  );
}
