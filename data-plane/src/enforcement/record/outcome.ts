/** Step 6, last part: records the outcome of an allowed call. */
import { uuidv7 } from '@governance/shared/ids';
import {
  HttpStatus,
  type OutcomeRecord,
  type UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { isoTime } from '@governance/shared/time/iso-time';
import type { Ledger } from '../../contracts.ts';
import type { PendingWrites } from '../../storage/pending-writes.ts';
import type { UpstreamFailureKind } from '../../upstream/upstream.ts';
import type { Answer, Refusal } from '../call/answer.ts';
import type { JudgedCall, RawCall } from '../call/calls.ts';
import type { Inspection } from '../call/received-message.ts';
import { type AllowedCall, recordedFindings, roundMs, saltedHash } from './audit.ts';
import type { PayloadKeeper } from './kept-payload.ts';
import { internalRefusal } from './refusals.ts';

export type Outcome = OutcomeRecord['outcome'];

export interface OutcomeDeps {
  ledger: Ledger;
  payloads: Pick<PayloadKeeper, 'keepResult'>;
  writes: PendingWrites;
  now(): number;
  elapsed(): number;
  /** The revision of a tenant's active bundle. */
  findRevision(tenantId: string): number | null;
  onOutcome(outcome: Outcome, upstreamMs: number): void;
}

/** An answer after inspection. */
export interface Passed extends Inspection {
  /** What the agent gets. */
  readonly answer: Answer;
  /** The id of the escalation under which the answer is held. */
  readonly heldAs?: string;
}

/** Says that the call was made: the agent must not take it for refused. */
const BLOCKED = 'The call was made, and the gateway blocked its answer.';

/**
 * An answer that a step blocked.
 *
 * @param why begins with the step
 * @param refusal the answer for the agent, where the step specifies one
 */
export function blocked(
  { id }: Pick<RawCall, 'id'>,
  step: string | undefined,
  why: string,
  refusal?: Refusal,
): Passed {
  const data = { event_id: id, failure: 'blocked' };
  const answer = refusal ?? internalRefusal(BLOCKED, data);
  return { answer, step, blocked: why };
}

/** Characters of a recorded detail, at most. */
const MAX_DETAIL = 512;

/** How a call that was sent has ended. */
export interface Ended {
  /** The destination's answer. */
  readonly sent: Answer;
  /** What the agent gets. */
  readonly passed: Passed;
  /** Monotonic milliseconds. */
  readonly sentAt: number;
  /** Bytes that are counted as memory for the answer; absent where none are. */
  readonly heldBytes?: number;
}

/**
 * Hands the outcome over to the ledger. After a crash before it is on disk, the ledger writes
 * `outcome_unknown` in its place.
 *
 * @returns whether it was written. Callers need not wait for it: a stop does. It never rejects.
 */
export function recordOutcome(
  { call, salt, kept }: AllowedCall,
  { sent, passed, sentAt, heldBytes = 0 }: Ended,
  deps: OutcomeDeps,
): Promise<boolean> {
  const { blocked: why, findings } = passed;
  const outcome = heldOf(passed) ?? (why === undefined ? outcomeOf(sent) : 'blocked');
  const raw = 'raw' in sent ? sent.raw : null;
  const detail = why ?? detailOf(sent);
  const elapsed = deps.elapsed();
  // The answer was inspected by the rules of now.
  const revision = deps.findRevision(call.caller.tenantId) ?? call.rules.revision;
  const digest = deps.payloads.keepResult(call, kept, sent, heldBytes);
  const recordAt = (
    now: number,
    payload_digest: string | null,
  ): Extract<UnchainedRecord, { type: 'outcome' }> => ({
    type: 'outcome',
    id: uuidv7(now),
    timestamp: isoTime(now),
    bundle_revision: revision,
    event_id: call.id,
    outcome,
    latency_ms: roundMs(elapsed - call.caller.arrivedAt),
    result_digest: raw === null ? null : saltedHash(salt, raw),
    payload_digest,
    result_bytes: bytesOf(sent),
    inbound_findings_count: findings?.inbound.length ?? 0,
    result_action:
      heldOf(passed) ?? (raw === null && sent.kind !== 'model' ? null : actionOf(passed)),
    inspection: inspectionOf(salt, passed, holdIdOf(call, sent, passed)),
    model_usage: sent.kind === 'model' ? sent.usage : null,
    detail: detail === null ? null : detail.slice(0, MAX_DETAIL),
  });
  // With the time at which it is written: times of a chain do not run backwards.
  const append = (made: string | null) =>
    deps.ledger.append(call.caller.tenantId, recordAt(deps.now(), made));
  deps.onOutcome(outcome, elapsed - sentAt);
  // A large result is looked through on another thread before its digest is known.
  const written = digest instanceof Promise ? digest.then(append) : append(digest);
  return deps.writes.track('outcome', written);
}

/**
 * Hands over to the ledger that a model has begun to stream its answer. Records are written in the
 * order in which they are handed over, so that the outcome comes behind it. Neither the answer nor
 * its outcome waits for it.
 */
export function recordAnswerStarted(
  { id, caller: { tenantId }, rules }: JudgedCall,
  status: number,
  deps: Pick<OutcomeDeps, 'ledger' | 'writes' | 'now' | 'findRevision'>,
): void {
  // The ledger takes no other. The outcome has it all the same.
  if (!HttpStatus.safeParse(status).success) return;
  const now = deps.now();
  const written = deps.ledger.append(tenantId, {
    type: 'answer_started',
    id: uuidv7(now),
    timestamp: isoTime(now),
    bundle_revision: deps.findRevision(tenantId) ?? rules.revision,
    event_id: id,
    status,
  });
  void deps.writes.track('the start of an answer', written);
}

const FAILED_OUTCOMES: Record<UpstreamFailureKind, Outcome> = {
  unreachable: 'upstream_error',
  malformed: 'upstream_error',
  refused: 'upstream_error',
  unsupported: 'upstream_error',
  ineligible: 'blocked',
  loop: 'upstream_error',
  busy: 'blocked',
  timeout: 'upstream_timeout',
  too_large: 'result_too_large',
  no_room: 'result_too_large',
  cancelled: 'cancelled',
};

function bytesOf(sent: Answer): number | null {
  if ('raw' in sent) return Buffer.byteLength(sent.raw);
  return sent.kind === 'model' ? sent.bytes : null;
}

function heldOf({ heldAs }: Passed): 'held' | undefined {
  return heldAs === undefined ? undefined : 'held';
}

function actionOf({ step, blocked: why }: Passed): 'allowed' | 'blocked' | 'replaced' {
  if (why !== undefined) return 'blocked';
  return step === undefined ? 'allowed' : 'replaced';
}

/** The hold whose result this is: one that waits from now on, or that a person released. */
function holdIdOf({ grant }: Pick<RawCall, 'grant'>, sent: Answer, { heldAs }: Passed) {
  if (heldAs !== undefined) return heldAs;
  return grant?.releaseAs && 'raw' in sent ? grant.escalationId : null;
}

/** What the record says of the inspection; null where there is nothing to say. */
function inspectionOf(salt: Uint8Array, passed: Passed, holdId: string | null) {
  const { step, answer, findings, heldAs } = passed;
  if (step === undefined && findings === undefined && holdId === null) return null;
  // Nobody gets anything of a held result yet.
  const isReplaced = step !== undefined && heldAs === undefined && 'raw' in answer;
  return {
    step: step ?? null,
    inbound_findings: recordedFindings(findings?.inbound),
    dlp_findings_count: findings?.dlp.length ?? 0,
    dlp_findings: recordedFindings(findings?.dlp),
    replacement_digest: isReplaced ? saltedHash(salt, answer.raw) : null,
    escalation_id: holdId,
  };
}

function detailOf(sent: Answer): string | null {
  if ('raw' in sent) return null;
  return sent.failure?.message ?? (sent.kind === 'refusal' ? sent.message : null);
}

function outcomeOf(sent: Answer): Outcome {
  if ('raw' in sent) {
    const { kind, value } = sent;
    if (kind === 'error') return 'tool_error';
    const isError = typeof value === 'object' && value !== null && 'isError' in value;
    return isError && value.isError === true ? 'tool_error' : 'forwarded';
  }
  if (sent.failure) return FAILED_OUTCOMES[sent.failure.kind];
  if (sent.kind === 'model') return sent.isError ? 'tool_error' : 'forwarded';
  return sent.kind === 'cancelled' ? 'cancelled' : 'tool_error';
}
