/**
 * The records of the ledger. Version 2 is written; version 1 (ledger-record-v1.ts) stays valid. A
 * record is stored, shipped and verified as its RFC 8785 bytes, verbatim.
 *
 * Version 2 may gain types of records and optional members, as it gained `rate_limited`,
 * `result_held`, `answer_started`, `binding` and `shape`; whatever it took before stays valid.
 * Readers are strict, so one of before such an addition cannot read it: readers are upgraded before
 * writers (ADR 43).
 * Anything else, such as another meaning or a required member, is a new version.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { canonicalize, isCanonicalText } from '../json/canonical-json.ts';
import { createSchemaPredicate } from '../json/schema-predicate.ts';
import { type JsonWriting, parseStrictJson } from '../json/strict-json.ts';
import { Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { recordHash } from './hash-chain.ts';
import {
  AdminActionV1,
  AlertV1,
  DecisionV1,
  ENVELOPE_V1,
  EpochStartV1,
  List,
  OutcomeV1,
  RiskTier,
  Severity,
} from './ledger-record-v1.ts';

export { MAX_LIST_ITEMS, PolicyResult, RiskTier, Severity } from './ledger-record-v1.ts';

/**
 * A record's bytes. A writer refuses a larger one, and a reader does not parse it: the cost of
 * saying what is wrong with a record grows with its size.
 */
export const MAX_RECORD_BYTES = 256 * 1024;

/**
 * How records are read, by ingest as by verifiers: some members may hold anything (`details`,
 * findings), and what one reader takes and another refuses would spoil the evidence around it. A
 * number is bound by the canonical form, which writes it in one way.
 */
export const RECORD_JSON = { maxDepth: 32, maxNodes: 200_000, numbers: 'any' } as const;

/** The version that this program writes; it reads every version up to it. */
export const RECORD_VERSION = 2;

const v = z.literal(RECORD_VERSION);
const envelope = { ...ENVELOPE_V1, v };

const Actor = AdminActionV1.shape.actor.extend({
  role: z.enum(['admin', 'approver', 'auditor', 'super_admin', 'system', 'data_plane']),
});

/** What an approval is bound to. */
const boundCall = {
  agent_id: Id,
  requester_id: Text.nullable(),
  mcp_server: Text,
  method: Text,
  tool_name: Text,
  /** The held call's decision, which has the salt. */
  instruction_hash: Sha256Hex,
};

const EpochStart = EpochStartV1.extend({ v });

const Decision = DecisionV1.extend({
  v,
  /** The hold that this decision opened (`hold_opened`), or under which its call waits. */
  escalation_id: Id.nullable(),
  /** The approval that this decision redeemed. A grant is redeemed once. */
  grant_id: Id.nullable(),
  /** The exception that covered the call. */
  exception_id: Id.nullable(),
  /**
   * SHA-256(salt || the kept policy input); null where none is kept. The salt is kept and purged with
   * the payload, and is not the decision's.
   */
  payload_digest: Sha256Hex.nullable(),
  /** The members of this record that the tenant's data protection changed. */
  protected_fields: List(z.enum(['target', 'policy_reason', 'requester_id'])),
  /** For a call to a language model. Its messages are never recorded. */
  model: z
    .strictObject({
      name: Text.nullable(),
      has_system_prompt: z.boolean(),
      has_tools: z.boolean(),
      message_count: z.int().nonnegative(),
    })
    .nullable(),
});

const Outcome = OutcomeV1.extend({
  v,
  outcome: z.enum([...OutcomeV1.shape.outcome.options, 'held']),
  /**
   * SHA-256(salt || the result's bytes as they came), with the salt of the decision; null where no
   * result came. Version 1 has the bare SHA-256 of the bytes.
   */
  result_digest: OutcomeV1.shape.result_digest,
  /** As in the decision, for the kept result. */
  payload_digest: Sha256Hex.nullable(),
  /** What became of the result; null where none came. */
  result_action: z.enum(['allowed', 'blocked', 'replaced', 'held']).nullable(),
  /** The findings of inspection in the result; null where there are none. */
  inspection: z
    .strictObject({
      /** The step that blocked, replaced or held it; null where it was passed on all the same. */
      step: Text.nullable(),
      /** The gravest of them; `inbound_findings_count` counts all. */
      inbound_findings: List(z.looseObject({ class: Text, severity: Severity })),
      dlp_findings_count: z.int().nonnegative(),
      dlp_findings: DecisionV1.shape.dlp_findings,
      /** Like `result_digest`, for what the agent got in place of the result. */
      replacement_digest: Sha256Hex.nullable(),
      /** The hold (`result_held`) whose result this is: one that waits, or one that was released. */
      escalation_id: Id.nullable(),
    })
    .nullable(),
  /** For a call to a language model. */
  model_usage: z
    .strictObject({
      status: z.int().nullable(),
      input_tokens: z.int().nonnegative().nullable(),
      output_tokens: z.int().nonnegative().nullable(),
      finish_reason: Text.nullable(),
    })
    .nullable(),
});

const Alert = AlertV1.extend({ v });

const AdminAction = AdminActionV1.extend({ v, actor: Actor });

/**
 * What a hold is bound to, keyed by a secret that no chain contains: another data plane recognises
 * the same call by it.
 */
const Binding = Sha256Hex.nullable().optional();

/** A call, or its result, waits for a person. */
const HoldOpened = z.strictObject({
  ...envelope,
  type: z.literal('hold_opened'),
  escalation_id: Id,
  /** The decision's id. */
  event_id: Id,
  held: z.enum(['call', 'result']),
  ...boundCall,
  target: Text,
  risk_tier: RiskTier,
  reason: Text.nullable(),
  timeout_at: Timestamp,
  binding: Binding,
  /**
   * What an exception would have to name to cover such a call: who asked for a person, and the
   * target as a pattern (empty: the call has none). Null where that cannot be said: several targets,
   * one that no pattern names alone, one that data protection hides. Absent in records of before.
   */
  shape: z
    .strictObject({ policy_ids: List(Text), resource: Text })
    .nullable()
    .optional(),
});

/** A result waits for a person, since it looks like an injection: its findings, not its text. */
const ResultHeld = z.strictObject({
  ...envelope,
  type: z.literal('result_held'),
  escalation_id: Id,
  /** The decision's id. */
  event_id: Id,
  ...boundCall,
  target: Text,
  risk_tier: RiskTier,
  /** The severity of the worst finding. */
  severity: Severity,
  /** The first of them. */
  findings: List(z.looseObject({ class: Text, severity: Severity })),
  findings_count: z.int().positive(),
  result_bytes: z.int().nonnegative(),
  timeout_at: Timestamp,
  binding: Binding,
});

const HoldResolved = z.strictObject({
  ...envelope,
  type: z.literal('hold_resolved'),
  escalation_id: Id,
  event_id: Id,
  resolution: z.enum([
    'approved',
    'denied',
    'timed_out',
    'result_allowed',
    'result_sanitized',
    'result_blocked',
  ]),
  resolved_at: Timestamp,
  /** Null if nobody did, and the hold timed out. */
  resolved_by: Actor.nullable(),
  notes: Text.nullable(),
  /** What an approval allows: this call, once, until it expires. */
  grant: z.strictObject({ id: Id, expires_at: Timestamp, ...boundCall }).nullable(),
});

/** Calls of an agent that its rate limit refused: counted, without decisions. */
const RateLimited = z.strictObject({
  ...envelope,
  type: z.literal('rate_limited'),
  agent_id: Id,
  /** How many, from the first to the last. */
  refused: z.int().positive(),
  since: Timestamp,
  until: Timestamp,
  /** Requests in a window. */
  limit: z.int().positive(),
  window_seconds: z.int().positive(),
  risk_tier: RiskTier,
});

/**
 * A model's runtime has begun to stream its answer: what is known of the call until its outcome,
 * which follows.
 */
const AnswerStarted = z.strictObject({
  ...envelope,
  type: z.literal('answer_started'),
  /** The decision's id. */
  event_id: Id,
  /** The HTTP status of the runtime's answer. Some that HTTP does not know were written, and stay. */
  status: z.int().nonnegative(),
});

export const HttpStatus = z.int().min(100).max(599);

const RecordV1 = z.discriminatedUnion('type', [
  EpochStartV1,
  DecisionV1,
  OutcomeV1,
  AlertV1,
  AdminActionV1,
]);

/** The schema for writing. */
export const RecordV2 = z.discriminatedUnion('type', [
  EpochStart,
  Decision,
  Outcome,
  Alert,
  AdminAction,
  HoldOpened,
  HoldResolved,
  RateLimited,
  ResultHeld,
  AnswerStarted,
]);

export const LedgerRecord = z.discriminatedUnion('v', [RecordV1, RecordV2]);
/** A record of any version: a member that version 2 added is there only where `v` is 2. */
export type LedgerRecord = z.infer<typeof LedgerRecord>;
const isRecord = createSchemaPredicate(LedgerRecord);
export type LedgerRecordType = LedgerRecord['type'];
type OfType<T extends LedgerRecordType> = Extract<LedgerRecord, { type: T }>;
export type DecisionRecord = OfType<'decision'>;
export type OutcomeRecord = OfType<'outcome'>;
export type AlertRecord = OfType<'alert'>;
export type AdminActionRecord = OfType<'admin_action'>;

/** The fields that only the writer of the chain knows. */
const CHAIN_FIELDS = {
  v: true,
  tenant_id: true,
  stream: true,
  epoch: true,
  seq: true,
  prev_hash: true,
} as const;

/**
 * A writer checks records with it: nothing is chained that a reader would refuse. It may take less
 * than readers do.
 */
export const UnchainedRecord = z.discriminatedUnion('type', [
  EpochStart.omit(CHAIN_FIELDS),
  Decision.omit(CHAIN_FIELDS),
  Outcome.omit(CHAIN_FIELDS),
  Alert.omit(CHAIN_FIELDS),
  AdminAction.omit(CHAIN_FIELDS),
  HoldOpened.omit(CHAIN_FIELDS),
  HoldResolved.omit(CHAIN_FIELDS),
  RateLimited.omit(CHAIN_FIELDS),
  ResultHeld.omit(CHAIN_FIELDS),
  AnswerStarted.omit(CHAIN_FIELDS).extend({ status: HttpStatus }),
]);
/** A record as its author hands it to the ledger, before it has a position in the chain. */
export type UnchainedRecord = z.infer<typeof UnchainedRecord>;

/** A stream's position: what the next record follows. */
export interface ChainHead {
  tenant_id: string;
  stream: string;
  epoch: number;
  /** The seq of the last record, 0 before the first of an epoch. */
  seq: number;
  head: string;
}

/**
 * Gives a record its place behind a head.
 *
 * @returns the canonical bytes to store, their hash (which is the new head) and the seq
 * @throws TypeError when a field has no canonical form (a lone surrogate, NaN)
 */
export function chainRecord(
  head: ChainHead,
  record: UnchainedRecord,
): { bytes: Buffer; hash: string; seq: number } {
  const seq = head.seq + 1;
  const { tenant_id, stream, epoch, head: prev_hash } = head;
  const place = { v: RECORD_VERSION, tenant_id, stream, epoch, seq, prev_hash };
  const bytes = Buffer.from(canonicalize({ ...record, ...place }));
  return { bytes, hash: recordHash(bytes), seq };
}

/**
 * Reads a stored record back.
 *
 * @param bytes canonical JSON as UTF-8
 * @throws UnknownRecordVersion when a newer program wrote it
 * @throws StrictJsonError (a SyntaxError) or ZodError when the bytes are no record
 * @throws TypeError when they are not in canonical form
 */
export function parseRecord(bytes: Uint8Array): LedgerRecord {
  if (!isUtf8(bytes)) throw new TypeError('the record is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const writing: JsonWriting = { isPlain: false };
  const value = parseStrictJson(text, { ...RECORD_JSON, writing });
  if (!isCanonicalText(text, value, writing)) {
    throw new TypeError('the record is not in canonical form');
  }
  return checkRecord(value);
}

/** Its message follows "the record". */
export class UnknownRecordVersion extends Error {
  constructor(version: number) {
    super(`is of version ${version}, and this program reads up to ${RECORD_VERSION}`);
    this.name = 'UnknownRecordVersion';
  }
}

/**
 * Checks a parsed record against the schema of its version.
 *
 * @param value parsed JSON
 * @returns the record, which may be the value itself
 * @throws UnknownRecordVersion or ZodError
 */
export function checkRecord(value: unknown): LedgerRecord {
  if (isRecord(value)) return value as LedgerRecord;
  const version = (value as { v?: unknown } | null)?.v;
  if (Number.isInteger(version) && (version as number) > RECORD_VERSION) {
    throw new UnknownRecordVersion(version as number);
  }
  return LedgerRecord.parse(value);
}
