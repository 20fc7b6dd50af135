/**
 * Finds the records of a batch that refer to something which the control plane does not have: they
 * would fail a check of every package that holds them. Judged as verifiers judge, by the same rules.
 */

import { MAX_WORKFLOW_DEPTH } from '@governance/shared/channel/facts';
import { findApprovalFault } from '@governance/shared/evidence/checks/approval-binding';
import { SKEW_MS } from '@governance/shared/evidence/checks/check';
import {
  findDelegationFault,
  toDelegatedCall,
} from '@governance/shared/evidence/checks/delegation-binding';
import type { DecisionRecord } from '@governance/shared/ledger/ledger-record';
import type { DisputableCheck } from '@governance/shared/ledger/record-dispute';
import { readAsVerifiers } from '../chain/ledger-row.ts';
import type { CheckedBatch, CheckedRecord } from './batch-check.ts';
import type { ReferenceFacts, References } from './reference-facts.ts';

/** A decision that refers to something. */
export interface Referring {
  seq: number;
  hash: string;
  decision: DecisionRecord;
}

export interface ReferenceFault {
  seq: number;
  hash: string;
  check: DisputableCheck;
  /** Phrased to follow "the record", as `reference` does. */
  reason: string;
  reference: string;
}

export interface FoundFaults {
  faults: ReferenceFault[];
  /**
   * What may be one. It is disputed as well, since a dispute of a sound record excuses nothing, and
   * nobody is told.
   */
  doubts: ReferenceFault[];
}

export const NO_FAULTS: FoundFaults = { faults: [], doubts: [] };

/**
 * Verifiers take the time of the record in the admin chain, which is a little later than the row's:
 * what lies between is a doubt, since no verifier may ask.
 */
const STRICT_SKEW_MS = SKEW_MS - 60_000;

/** The decisions of a batch that refer to something, in order, with those in quarantine. */
export function findReferring({ records }: Pick<CheckedBatch, 'records'>): Referring[] {
  return records.flatMap((one): Referring[] => {
    const decision = readDecision(one);
    if (!decision || !refers(decision)) return [];
    return [{ seq: one.seq, hash: one.hash, decision }];
  });
}

/** Verifiers also read most of what is in quarantine. */
function readDecision({ record, columns, shown, bytes }: CheckedRecord) {
  const known = record ?? shown?.record;
  const read = known ?? (columns.type === 'decision' ? readAsVerifiers(bytes) : undefined);
  return read?.type === 'decision' ? read : undefined;
}

const refers = (decision: DecisionRecord): boolean =>
  decision.bundle_revision !== null ||
  decision.delegation_chain.length > 0 ||
  grantOf(decision) !== null;

export const grantOf = (decision: DecisionRecord): string | null =>
  decision.v === 2 ? decision.grant_id : null;

/** A longer chain than can be issued has a fault, whatever its end names. */
export function referencesOf(referring: readonly Referring[]): References {
  const named: References = { revisions: new Set(), delegations: new Set(), grants: new Set() };
  for (const { decision } of referring) {
    if (decision.bundle_revision !== null) named.revisions.add(decision.bundle_revision);
    for (const id of decision.delegation_chain.slice(0, MAX_WORKFLOW_DEPTH)) {
      named.delegations.add(id);
    }
    const grant = grantOf(decision);
    if (grant !== null) named.grants.add(grant);
  }
  return named;
}

/** @returns what is wrong with each record, by what the control plane has, or may be */
export function findReferenceFaults(
  referring: readonly Referring[],
  facts: ReferenceFacts,
  skewMs = STRICT_SKEW_MS,
): ReferenceFault[] {
  return referring.flatMap(({ seq, hash, decision }) =>
    [
      findBundle(decision, facts),
      findApproval(decision, facts, skewMs),
      findDelegations(decision, facts, skewMs),
    ]
      .filter((found) => found !== undefined)
      .map((found) => ({ seq, hash, ...found })),
  );
}

/** Tells what is wrong from what only may be. */
export function judgeReferences(
  referring: readonly Referring[],
  facts: ReferenceFacts,
): FoundFaults {
  const doubts = findReferenceFaults(referring, facts);
  const faults = doubts.length > 0 ? findReferenceFaults(referring, facts, SKEW_MS) : [];
  return onceEach({ faults, doubts });
}

/** A record is disputed once by each check: what is a fault is no doubt. */
export function onceEach({ faults, doubts }: FoundFaults): FoundFaults {
  const nameOf = ({ seq, check }: ReferenceFault) => `${seq} ${check}`;
  const doubted = new Map(doubts.map((one) => [nameOf(one), one]));
  for (const one of faults) doubted.delete(nameOf(one));
  return { faults, doubts: [...doubted.values()] };
}

type Found = Omit<ReferenceFault, 'seq' | 'hash'> | undefined;

function findBundle({ bundle_revision: revision }: DecisionRecord, facts: ReferenceFacts): Found {
  if (revision === null || facts.hasRevision(revision)) return undefined;
  const reason = 'names a policy bundle that is not known';
  return { check: 'policy.binding', reason, reference: String(revision) };
}

function findApproval(decision: DecisionRecord, facts: ReferenceFacts, skewMs: number): Found {
  const grant = grantOf(decision);
  if (grant === null) return undefined;
  const approval = facts.findApproval(grant);
  const fault = findApprovalFault(decision, approval, skewMs);
  if (fault === undefined) return undefined;
  const reason = approval
    ? `uses an approval that does not cover it: ${fault}`
    : 'uses an approval that is not known';
  return { check: 'approval.binding', reason, reference: grant };
}

function findDelegations(decision: DecisionRecord, facts: ReferenceFacts, skewMs: number): Found {
  const { delegation_chain: chain } = decision;
  if (chain.length === 0) return undefined;
  const fault = findDelegationFault(toDelegatedCall(decision), facts.findDelegation, skewMs);
  if (fault === undefined) return undefined;
  const unknown = chain.find((id) => facts.findDelegation(id) === undefined);
  return {
    check: 'delegation.binding',
    reason:
      unknown === undefined
        ? `names delegations that do not cover it: ${fault}`
        : 'names a delegation that is not known',
    reference: unknown ?? chain.at(-1) ?? '',
  };
}
