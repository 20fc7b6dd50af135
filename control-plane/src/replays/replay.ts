/**
 * A replay and its states: queued → running → completed or failed; cancelled from either of the
 * first two. A running one is held by one replica until its lease ends; then another continues it.
 */
import { hash } from 'node:crypto';
import type { PolicySource } from '@governance/policies/contract';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { z } from 'zod';
import type { ReplayResult } from './replay-result.ts';

export const ReplayStatus = z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']);
export type ReplayStatus = z.infer<typeof ReplayStatus>;

/** Ended replays kept per policy. */
export const MAX_ENDED_OF_POLICY = 20;

export interface Replay {
  id: string;
  policyId: string;
  changeRequestId: string | null;
  status: ReplayStatus;
  fromTime: Date;
  toTime: Date;
  /** The policy's name, for reasons. */
  name: string;
  regoContent: string;
  regoSha256: string;
  isLeftOut: boolean;
  setDigest: string;
  opensEncrypted: boolean;
  untilPosition: number;
  position: number;
  decisionsTotal: number;
  result: ReplayResult;
  reason: string | null;
  requestedBy: string;
  attempts: number;
  leaseUntil: Date;
  createdAt: Date;
  finishedAt: Date | null;
}

/** The active set in which the policy has the text under test, or is left out. */
export function candidateSet(
  active: PolicySource[],
  { policyId, name, regoContent, isLeftOut }: Tried,
): PolicySource[] {
  const others = active.filter(({ id }) => id !== policyId);
  return isLeftOut ? others : [...others, { id: policyId, name, rego: regoContent }];
}

export type Tried = Pick<Replay, 'policyId' | 'name' | 'regoContent' | 'isLeftOut'>;

/** Identifies everything that a verdict depends on besides the input. */
export function setDigestOf(sourcesDigest: string, settings: unknown): string {
  return hash('sha256', canonicalize({ sources: sourcesDigest, settings }), 'hex');
}
