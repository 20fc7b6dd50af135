/**
 * Step 6, first half: the decision becomes a durable record. Only `recordDecision` makes an
 * `AllowedCall`, and only after the ledger confirmed that the record is on disk; only an
 * `AllowedCall` can be forwarded. Proven by enforcer.test.ts (no forward without a resolved
 * append).
 */

import { hash, randomFillSync } from 'node:crypto';
import { formatReasons, type PolicyReason } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { gravestOf } from '@governance/shared/detect/gravest';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type {
  PolicyResult,
  Severity,
  UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import { toStorableText } from '@governance/shared/text';
import { isoTime } from '@governance/shared/time/iso-time';
import type { HoldChange, Ledger } from '../../contracts.ts';
import { actionOf, targetOf } from '../call/call-kinds.ts';
import { publishStage } from '../call/call-stages.ts';
import type {
  AgentCall,
  Ask,
  CallDlp,
  Caller,
  JudgedCall,
  Lifted,
  RawCall,
} from '../call/calls.ts';
import type { ContentMembers, ProtectedMembers } from '../call/content-members.ts';
import { coverMatched, NO_MARKS, REDACTED } from '../call/cover-texts.ts';
import type { Judgement } from '../call/pipeline-builder.ts';
import { describeLifted } from '../permission/exceptions.ts';
import type { KeptPayload } from './kept-payload.ts';
import type { RefusedCalls } from './refused-calls.ts';

declare const durable: unique symbol;

/** An allowed call whose decision is on disk. */
export interface AllowedCall {
  readonly call: JudgedCall;
  readonly decision: DecisionFields;
  /** The salt of the decision's hashes; the digest of the result uses it too. */
  readonly salt: Uint8Array;
  /** What is kept of the call beside its record; null for nothing. */
  readonly kept: KeptPayload | null;
  readonly [durable]: true;
}

export type CallJudgement = Judgement<RawCall, JudgedCall>;

export interface AuditDeps {
  ledger: Ledger;
  /** Counts calls that a rate limit refused. */
  refusedCalls: Pick<RefusedCalls, 'count'>;
  /** The revision of a tenant's active bundle. */
  findRevision(tenantId: string): number | null;
  findSettings(tenantId: string): BundleSettings | null;
  /**
   * Applies the tenant's data protection to the members that repeat content of a call. A promise
   * only where the call is large; it never rejects.
   */
  protectMembers(
    caller: Caller,
    asked: {
      readonly settings: BundleSettings | null;
      readonly ask: Ask;
      readonly members: ContentMembers;
      readonly otherRequesters: readonly string[];
      readonly matched: CallDlp['matched'];
    },
  ): ProtectedMembers | Promise<ProtectedMembers>;
  findRegion(tenantId: string): string | null;
  /** Unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds, the clock of `arrivedAt`. */
  elapsed(): number;
}

export type DecisionFields = Extract<UnchainedRecord, { type: 'decision' }>;

/** The hold under which an escalated call waits. */
export interface DecisionHold {
  readonly escalationId: string;
  /**
   * The record that opens the hold, and the changes to commit with it.
   *
   * @returns null where the hold is open already
   */
  open(decision: DecisionFields): {
    record: UnchainedRecord;
    changes: readonly HoldChange[];
  } | null;
}

/**
 * The members of a decision that repeat content of its call, as they may be recorded. A promise
 * only where the call is large.
 *
 * @returns null for a judgement that leaves no decision
 */
export function recordMembersOf(
  judgement: CallJudgement,
  deps: AuditDeps,
): ProtectedMembers | Promise<ProtectedMembers> | null {
  if (judgement.call.agent === undefined || isCountedOnly(judgement)) return null;
  const call = judgement.call as AgentCall & Partial<JudgedCall>;
  const { ask, caller } = call;
  const { requesterId, otherRequesters } = requestersOf(call);
  // A call that was denied early has no rules yet; the tenant's data protection still applies to
  // its record.
  const settings = call.rules?.settings ?? deps.findSettings(caller.tenantId);
  const reason = reasonOf(judgement);
  const content = {
    target: call.target ?? targetOf(ask),
    policy_reason: ask.model ? reasonOf(judgement, withoutMessages) : reason,
    requester_id: requesterId,
  };
  // Null says that there are too many texts to tell.
  const { matched = NO_MARKS } = call.dlp ?? {};
  const isProtected = settings?.data_protection !== undefined || matched !== NO_MARKS;
  const members = isProtected
    ? deps.protectMembers(caller, { settings, ask, members: content, otherRequesters, matched })
    : { ...content, protected_fields: [] };
  if (content.policy_reason === reason) return members;
  return members instanceof Promise ? members.then(withReason) : withReason(members);
}

/** The record of a call to a model names the policies, and does not quote them. */
function withReason({ protected_fields: fields, ...members }: ProtectedMembers): ProtectedMembers {
  return { ...members, protected_fields: [...new Set([...fields, 'policy_reason'] as const)] };
}

/**
 * Calls over the rate limit are counted and have no decision: an agent must not fill the ledger by
 * calling too often.
 */
function isCountedOnly(judgement: CallJudgement): boolean {
  return judgement.verdict === 'deny' && judgement.deny.exceeded !== undefined;
}

/** What a decision's record needs beside the judgement. */
export interface RecordParts {
  /** Of `recordMembersOf`; null for a judgement that leaves no decision. */
  readonly members: ProtectedMembers | null;
  /** What is kept of the call beside its record. */
  readonly kept: KeptPayload | null;
  /** The hold of the call, if it is held. */
  readonly hold: DecisionHold | null;
}

/**
 * Records a judgement as a decision. The use of a grant is committed with it.
 *
 * @returns the call to forward when it was allowed, null when it was not
 * @throws when the record could not be made durable: then nothing may be forwarded
 */
export async function recordDecision(
  judgement: CallJudgement,
  { members, kept, hold }: RecordParts,
  deps: AuditDeps,
): Promise<AllowedCall | null> {
  const { call } = judgement;
  // An unauthenticated caller leaves no record (evidence, section 1): there is no tenant.
  if (call.agent === undefined) return null;
  if (judgement.verdict === 'deny' && judgement.deny.exceeded !== undefined) {
    const revision = deps.findRevision(call.caller.tenantId);
    deps.refusedCalls.count(call as AgentCall, judgement.deny.exceeded, revision);
    return null;
  }
  if (members === null) throw new TypeError('a decision without its members');
  const salt = nextSalt();
  const record = decisionRecord(judgement, { members, salt, kept, hold }, deps);
  const { tenantId } = call.caller;
  const isRedeemed = judgement.verdict === 'allow';
  const changes = isRedeemed ? call.grant?.changes : undefined;
  const written = deps.ledger.append(tenantId, record, salt, changes);
  const opening = hold?.open(record);
  publishStage(call, 'record-handed-over');
  // Appended together, so that at most one full group commit can come between the two.
  if (opening) {
    const opened = deps.ledger.append(tenantId, opening.record, undefined, opening.changes);
    await Promise.all([written, opened]);
  } else await written;
  publishStage(call, 'record-durable');
  if (judgement.verdict !== 'allow') return null;
  return { call: judgement.call, decision: record, salt, kept } as AllowedCall;
}

function decisionRecord(
  judgement: CallJudgement,
  {
    members,
    salt,
    kept,
    hold,
  }: RecordParts & { readonly members: ProtectedMembers; readonly salt: Uint8Array },
  deps: AuditDeps,
): DecisionFields {
  const call = judgement.call as AgentCall & Partial<JudgedCall>;
  const { agent, ask, caller, dlp, workflow, delegation, requester } = call;
  const target = storable(members.target);
  // A name is no text of the arguments: it stays where these are too much to look through.
  const matched = dlp?.matched ?? NO_MARKS;
  const cover = (text: string) => (matched === NO_MARKS ? text : coverMatched(text, matched));
  return {
    type: 'decision',
    id: call.id,
    timestamp: isoTime(deps.now()),
    bundle_revision: call.rules?.revision ?? null,
    agent_id: agent.id,
    action: ask.model ? LOCAL_MODELS.recordedAction : (call.action ?? actionOf(ask, undefined)),
    target,
    method: ask.method,
    tool_name: cover(ask.name),
    mcp_server: ask.serverId,
    policy_result: judgement.verdict satisfies PolicyResult,
    policy_reason: members.policy_reason && storable(members.policy_reason),
    decided_by: judgement.step,
    behavioral_score: agent.risk_score,
    risk_tier: agent.risk_tier,
    dlp_action: dlp?.action ?? null,
    dlp_findings_count: dlp?.findings.length ?? 0,
    dlp_findings: recordedFindings(dlp?.findings).map((finding) => {
      const place = cover(finding.place);
      return { ...finding, place: ask.model ? withoutNames(place) : place };
    }),
    latency_ms: roundMs(deps.elapsed() - caller.arrivedAt),
    session_id: caller.sessionId,
    workflow_session_id: workflow?.sessionId ?? null,
    causal_depth: workflow?.causalDepth ?? 0,
    parent_event_id: workflow?.parentEventId ?? null,
    delegation_chain: delegation?.links.map((link) => link.delegation.id) ?? [],
    requester_id: members.requester_id,
    requester_verified: requester?.verified ?? false,
    instruction_hash: instructionHash(salt, ask),
    region: deps.findRegion(caller.tenantId),
    escalation_id: hold?.escalationId ?? null,
    grant_id: judgement.verdict === 'allow' ? (call.grant?.id ?? null) : null,
    exception_id: liftedOf(judgement)?.exceptionIds[0] ?? null,
    payload_digest: kept?.digest ?? null,
    protected_fields: members.protected_fields,
    // Its name is the target of a call to a model.
    model: ask.model ? { ...ask.model, name: ask.model.name && target } : null,
  };
}

/**
 * The requester of a call as recorded, and the other people and agents that its header and its
 * delegations name.
 */
export function requestersOf({ caller, requester, delegation }: AgentCall): {
  requesterId: string | null;
  otherRequesters: string[];
} {
  const requesterId = requester?.id ?? caller.requesterId;
  const named = (delegation?.links ?? []).flatMap((link) => [
    link.delegation.requester,
    link.delegation.delegator_agent_id,
  ]);
  if (caller.requesterId !== null) named.push(caller.requesterId);
  return { requesterId, otherRequesters: named.filter((name) => name !== requesterId) };
}

/**
 * @param format how policies' reasons are written out: they may quote the call, as `detail` may
 */
function reasonOf(judgement: CallJudgement, format = formatReasons): string | null {
  if (judgement.verdict === 'deny') {
    const { reasons, message, detail } = judgement.deny;
    if (judgement.step !== POLICY_STEP || format === formatReasons) return detail ?? message;
    return reasons.every(isOwn) ? message : format(reasons);
  }
  const isAllowed = judgement.verdict === 'allow';
  const reasons = isAllowed ? judgement.call.reasons : judgement.escalate.reasons;
  const lifted = liftedOf(judgement);
  const reason = format(reasons);
  if (lifted === undefined) return reason || null;
  const under = describeLifted(lifted, format);
  return isAllowed ? `allowed ${under}; ${reason}` : `${reason}; ${under}`;
}

/** The step whose reasons are written by a tenant. */
const POLICY_STEP = 'policy';

/** Whether a reason is the service's own: the one for a call that no policy allows. */
const isOwn = ({ policy_id }: PolicyReason): boolean => policy_id === '';

/** For calls to a model: a policy may quote a prompt in any form, and no prompt is stored. */
function withoutMessages(reasons: readonly PolicyReason[]): string {
  return formatReasons(
    reasons.map((reason) => (isOwn(reason) ? reason : { ...reason, message: REDACTED })),
  );
}

/** Members of every request to a model, and places in lists. */
const STEP_OF_MODEL = /^(?:|arguments|model|messages|prompt|system|tools|role|content|text|\d+)$/;

/** The place of a finding in a request to a model, whose other names its author chose. */
function withoutNames(place: string): string {
  const steps = place.split('/').map((step) => (STEP_OF_MODEL.test(step) ? step : '*'));
  return steps.join('/');
}

/** What exceptions lifted; undefined for a call that is still denied. */
function liftedOf(judgement: CallJudgement): Lifted | undefined {
  return judgement.verdict === 'deny' ? undefined : judgement.call.lifted;
}

/** A salted hash of what a call asks for: it can be proven later, and reveals nothing. */
function instructionHash(salt: Uint8Array, ask: Ask): string {
  const { method, serverId, name, args, retry } = ask;
  // The members in canonical order.
  const asked = `{"arguments":${canonicalize(args)},"mcp_server":${canonicalize(serverId)}`;
  const again = retry ? `,"retry":${canonicalize(retry)}` : '';
  const instruction = `${asked},"method":${canonicalize(method)}${again},"tool_name":${canonicalize(name)}}`;
  return saltedHash(salt, instruction);
}

/** Large enough for most texts. */
const scratch = Buffer.alloc(16 * 1024);

/** SHA-256(salt || text): proves a known text, but does not help to guess an unknown one. */
export function saltedHash(salt: Uint8Array, text: string): string {
  const length = salt.length + Buffer.byteLength(text);
  // The one-shot `hash`: a hash object for each text would cost as much as the hashing.
  const bytes = length <= scratch.length ? scratch.subarray(0, length) : Buffer.alloc(length);
  bytes.set(salt);
  bytes.write(text, salt.length);
  return hash('sha256', bytes, 'hex');
}

/** Most findings that a record lists; its count includes all of them. */
const MAX_RECORDED_FINDINGS = 50;

/** The gravest findings, in the form of a record. */
export function recordedFindings<F extends { readonly severity: Severity }>(
  findings: readonly F[] | undefined,
): F[] {
  if (findings === undefined || findings.length === 0) return [];
  return gravestOf(findings, MAX_RECORDED_FINDINGS).map((finding) => ({ ...finding }));
}

const MAX_RECORDED_TEXT = 2048;

/** Makes a text fit for a record: a hostile argument must not make the ledger refuse it. */
function storable(text: string): string {
  const cut = text.length > MAX_RECORDED_TEXT ? `${text.slice(0, MAX_RECORDED_TEXT - 1)}…` : text;
  return toStorableText(cut);
}

/** Milliseconds with three decimals; never below 0. */
export function roundMs(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000);
}

const SALT_BYTES = 16;
let saltPool = Buffer.alloc(0);
let saltUsed = 0;

// A pool, since one system call for every salt costs more than the hash.
function nextSalt(): Uint8Array {
  if (saltUsed + SALT_BYTES > saltPool.length) {
    saltPool = randomFillSync(Buffer.alloc(SALT_BYTES * 256));
    saltUsed = 0;
  }
  // A copy: a view sent to another thread would transfer the whole pool.
  const salt = new Uint8Array(saltPool.subarray(saltUsed, saltUsed + SALT_BYTES));
  saltUsed += SALT_BYTES;
  return salt;
}
