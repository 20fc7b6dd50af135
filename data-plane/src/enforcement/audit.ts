/**
 * Step 6, first half: the decision becomes a durable record. Only `recordDecision` makes an
 * `AllowedCall`, and only after the ledger said that the record is on disk; only an `AllowedCall`
 * can be forwarded. Proven by enforcer.test.ts (no forward without a resolved append).
 */
import { hash, randomFillSync } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import type { PolicyResult, UnchainedRecord } from '@governance/shared/ledger-record';
import type { Ledger } from '../contracts.ts';
import { actionOf, targetOf } from './call-kinds.ts';
import type { CallObserver } from './call-observer.ts';
import type { AgentCall, JudgedCall, RawCall } from './calls.ts';
import type { Judgement } from './pipeline-builder.ts';
import { formatReasons } from './steps/policy.ts';

declare const durable: unique symbol;

/** An allowed call whose decision is on disk. */
export interface AllowedCall {
  readonly call: JudgedCall;
  readonly [durable]: true;
}

export type CallJudgement = Judgement<RawCall, JudgedCall>;

export interface AuditDeps {
  ledger: Ledger;
  findRegion(tenantId: string): string | null;
  /** Unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds, the clock of `arrivedAt`. */
  elapsed(): number;
  observe?: CallObserver | undefined;
}

type DecisionFields = Extract<UnchainedRecord, { type: 'decision' }>;

/**
 * Writes a judgement down.
 *
 * @returns the call to forward when it was allowed, null when it was not
 * @throws when the record could not be made durable: then nothing may be forwarded
 */
export async function recordDecision(
  judgement: CallJudgement,
  deps: AuditDeps,
): Promise<AllowedCall | null> {
  const { call } = judgement;
  // A caller that proved nothing leaves no record (evidence, section 1): there is no tenant.
  if (call.tenantId === undefined || call.agent === undefined) return null;
  const salt = nextSalt();
  const record = decisionRecord(judgement, call as AgentCall, salt, deps);
  const written = deps.ledger.append(call.tenantId, record, { event_id: call.id, salt });
  deps.observe?.(call, 'record-handed-over');
  await written;
  deps.observe?.(call, 'record-durable');
  return judgement.verdict === 'allow' ? grant(judgement.call) : null;
}

function grant(call: JudgedCall): AllowedCall {
  return { call } as AllowedCall;
}

function decisionRecord(
  judgement: CallJudgement,
  call: AgentCall & Partial<JudgedCall>,
  salt: Uint8Array,
  deps: AuditDeps,
): DecisionFields {
  const { agent } = call;
  return {
    type: 'decision',
    id: call.id,
    timestamp: new Date(deps.now()).toISOString(),
    bundle_revision: call.rules?.revision ?? null,
    agent_id: agent.id,
    action: call.action ?? actionOf(call, undefined),
    target: storable(call.target ?? targetOf(call)),
    method: call.method,
    tool_name: call.toolName,
    mcp_server: call.serverId,
    policy_result: judgement.verdict satisfies PolicyResult,
    policy_reason: reasonOf(judgement),
    decided_by: judgement.step,
    behavioral_score: agent.risk_score,
    risk_tier: agent.risk_tier,
    dlp_action: null,
    dlp_findings_count: 0,
    dlp_findings: [],
    latency_ms: roundMs(deps.elapsed() - call.arrivedAt),
    session_id: call.sessionId,
    workflow_session_id: null,
    causal_depth: 0,
    parent_event_id: null,
    delegation_chain: [],
    requester_id: call.requesterId,
    requester_verified: false,
    instruction_hash: instructionHash(salt, call),
    region: deps.findRegion(call.tenantId),
  };
}

function reasonOf(judgement: CallJudgement): string | null {
  switch (judgement.verdict) {
    case 'allow':
      return storable(formatReasons(judgement.call.reasons)) || null;
    case 'escalate':
      return storable(formatReasons(judgement.escalate.reasons)) || null;
    case 'deny':
      return storable(judgement.deny.detail ?? judgement.deny.message);
  }
}

/** What one call asks for, as a salted hash: it can be proven later and betrays nothing. */
function instructionHash(salt: Uint8Array, call: RawCall): string {
  const instruction = canonicalize({
    method: call.method,
    mcp_server: call.serverId,
    tool_name: call.toolName,
    arguments: call.args,
    ...(call.retry && { retry: call.retry }),
  });
  return hash('sha256', Buffer.concat([salt, Buffer.from(instruction)]), 'hex');
}

const MAX_RECORDED_TEXT = 2048;

/** A text that the record can hold: a hostile argument must not stop the ledger. */
function storable(text: string): string {
  const cut = text.length > MAX_RECORDED_TEXT ? `${text.slice(0, MAX_RECORDED_TEXT - 1)}…` : text;
  return cut.replaceAll('\u0000', '\ufffd').toWellFormed();
}

/** Milliseconds with three digits; a clock that stands still gives 0, never less. */
export function roundMs(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000);
}

const SALT_BYTES = 16;
let saltPool = Buffer.alloc(0);
let saltUsed = 0;

// A pool, since one call to the system for every salt costs more than the hash.
function nextSalt(): Uint8Array {
  if (saltUsed + SALT_BYTES > saltPool.length) {
    saltPool = randomFillSync(Buffer.alloc(SALT_BYTES * 256));
    saltUsed = 0;
  }
  // A copy of its own: a view that crosses to another thread would take the whole pool along.
  const salt = new Uint8Array(saltPool.subarray(saltUsed, saltUsed + SALT_BYTES));
  saltUsed += SALT_BYTES;
  return salt;
}
