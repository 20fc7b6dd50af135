/**
 * Step 6, second half: the one way to an MCP server for a tool call. It takes nothing but an
 * `AllowedCall`, and it leaves an outcome record for each. A call is never sent twice.
 */
import { hash } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { OutcomeRecord, UnchainedRecord } from '@governance/shared/ledger-record';
import type { Ledger } from '../contracts.ts';
import {
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamFailureKind,
  type UpstreamSession,
} from '../upstream/upstream.ts';
import { type AllowedCall, roundMs } from './audit.ts';
import { membersOf, retryMembersOf } from './call-kinds.ts';
import type { CallObserver } from './call-observer.ts';
import type { JudgedCall } from './calls.ts';
import type { PendingWrites } from './pending-writes.ts';

export type Outcome = OutcomeRecord['outcome'];

export interface ForwardExchange extends UpstreamExchange {
  readonly wantsProgress: boolean;
}

export interface ForwardDeps {
  ledger: Ledger;
  writes: PendingWrites;
  /** The agent's session with the server. Throws UpstreamFailure for a server that is not there. */
  findSession(call: JudgedCall): UpstreamSession;
  /** Why the call's agent may not act any more, if so. */
  findBar(call: JudgedCall): string | undefined;
  now(): number;
  elapsed(): number;
  onOutcome(outcome: Outcome, upstreamMs: number): void;
  observe?: CallObserver | undefined;
}

export type Forwarded =
  | { readonly kind: 'answer'; readonly answer: UpstreamAnswer }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailureKind; readonly detail: string };

/**
 * Sends an allowed call to its server.
 *
 * @returns the answer as it came, or why there is none. Never throws.
 */
export async function forward(
  { call }: AllowedCall,
  exchange: ForwardExchange,
  deps: ForwardDeps,
): Promise<Forwarded> {
  const sentAt = deps.elapsed();
  let forwarded: Forwarded;
  try {
    const answering = (call.recipient ?? deps.findSession(call)).request(
      {
        method: call.method,
        // The serialisation of the value that was judged, and nothing besides it: `_meta` and
        // unknown members were not judged, so they stay here.
        members: membersOf(call),
        wantsProgress: exchange.wantsProgress,
        retry: retryMembersOf(call),
      },
      {
        onNotification: (notification) => exchange.onNotification(notification),
        onPaused: (retryMs) => exchange.onPaused?.(retryMs),
        cancellation: exchange.cancellation,
        send: exchange.send,
        takesEveryResult: exchange.takesEveryResult,
        logLevel: exchange.logLevel,
        // Opening a session takes as long as the server likes: a kill switch does not wait for it.
        findBar: () => deps.findBar(call),
      },
    );
    deps.observe?.(call, 'sent-upstream');
    forwarded = { kind: 'answer', answer: await answering };
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error.kind : 'malformed';
    const detail = error instanceof Error ? error.message : 'unknown';
    forwarded = { kind: 'failed', failure, detail };
  }
  deps.observe?.(call, 'upstream-answered');
  recordOutcome(call, forwarded, sentAt, deps);
  deps.observe?.(call, 'outcome-handed-over');
  return forwarded;
}

// The client's answer does not wait for this record; a stop does. After a crash in between, the
// ledger writes `outcome_unknown` in its place.
function recordOutcome(
  call: JudgedCall,
  forwarded: Forwarded,
  sentAt: number,
  deps: ForwardDeps,
): void {
  const outcome = outcomeOf(forwarded);
  const raw = forwarded.kind === 'answer' ? forwarded.answer.raw : null;
  const now = deps.elapsed();
  const record: Extract<UnchainedRecord, { type: 'outcome' }> = {
    type: 'outcome',
    id: uuidv7(deps.now()),
    timestamp: new Date(deps.now()).toISOString(),
    bundle_revision: call.rules.revision,
    event_id: call.id,
    outcome,
    latency_ms: roundMs(now - call.arrivedAt),
    result_digest: raw === null ? null : hash('sha256', raw, 'hex'),
    result_bytes: raw === null ? null : Buffer.byteLength(raw),
    inbound_findings_count: 0,
    detail: forwarded.kind === 'failed' ? forwarded.detail.slice(0, 512).toWellFormed() : null,
  };
  deps.onOutcome(outcome, now - sentAt);
  deps.writes.track('outcome', deps.ledger.append(call.tenantId, record));
}

const FAILED_OUTCOMES: Record<UpstreamFailureKind, Outcome> = {
  unreachable: 'upstream_error',
  malformed: 'upstream_error',
  refused: 'upstream_error',
  unsupported: 'upstream_error',
  barred: 'blocked',
  loop: 'upstream_error',
  busy: 'blocked',
  timeout: 'upstream_timeout',
  too_large: 'result_too_large',
  cancelled: 'cancelled',
};

function outcomeOf(forwarded: Forwarded): Outcome {
  if (forwarded.kind === 'failed') return FAILED_OUTCOMES[forwarded.failure];
  const { kind, value } = forwarded.answer;
  if (kind === 'error') return 'tool_error';
  const isError = typeof value === 'object' && value !== null && 'isError' in value;
  return isError && value.isError === true ? 'tool_error' : 'forwarded';
}
