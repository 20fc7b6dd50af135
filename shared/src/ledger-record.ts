/**
 * The records of the ledger, schema version 1. The schema is complete from the first day, with
 * every field of the specification's audit event, so that no later feature changes what was
 * hashed. A record is stored, shipped and verified as its RFC 8785 bytes, verbatim.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { canonicalize, canonicalizeJoined, isCanonicalText } from './canonical-json.ts';
import { textHash } from './hash-chain.ts';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from './text.ts';

export const RiskTier = z.enum(['low', 'medium', 'high', 'critical']);
export type RiskTier = z.infer<typeof RiskTier>;

export const Severity = z.enum(['info', 'low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof Severity>;

export const PolicyResult = z.enum(['allow', 'deny', 'escalate', 'dlp_block']);
export type PolicyResult = z.infer<typeof PolicyResult>;

/**
 * A record's bytes. A writer refuses a larger one, and a reader does not take it apart: what it
 * costs to say what is wrong with a record grows with its size.
 */
export const MAX_RECORD_BYTES = 256 * 1024;

/** Items of a list in a record. */
export const MAX_LIST_ITEMS = 1_000;

/**
 * A list whose length is looked at before its items: of a million wrong items the validator would
 * report each, which takes seconds and hundreds of megabytes for one record of 1 MiB.
 */
const List = <T extends z.ZodType>(item: T) =>
  z.array(z.unknown()).max(MAX_LIST_ITEMS).pipe(z.array(item));

/** What every record carries beside its own fields. */
const envelope = {
  v: z.literal(1),
  id: Id,
  tenant_id: Id,
  /** The writer: a data plane's deployment id, or the tenant's admin chain. */
  stream: Id,
  /** Counts the writer's boots and restores from 1. */
  epoch: Epoch,
  /** Counts the epoch's records from 1. */
  seq: z.int().positive(),
  prev_hash: Sha256Hex,
  timestamp: Timestamp,
  /** The revision of the bundle that was active, null where none was. */
  bundle_revision: z.int().nonnegative().nullable(),
};

/** The first record of an epoch; it names the end of the epoch before, so that a cut tail shows. */
export const EpochStartRecord = z.strictObject({
  ...envelope,
  type: z.literal('epoch_start'),
  previous: z
    .strictObject({ epoch: Epoch, last_seq: z.int().positive(), head: Sha256Hex })
    .nullable(),
  reason: z.enum(['created', 'boot', 'restore']),
  writer_version: Text,
});

/** One tool call, one audit event: its id is the decision's id (specification 1, section 2). */
export const DecisionRecord = z.strictObject({
  ...envelope,
  type: z.literal('decision'),
  agent_id: Id,
  /** read, write, delete or execute. */
  action: Text,
  target: Text,
  method: Text,
  tool_name: Text,
  mcp_server: Text,
  policy_result: PolicyResult,
  policy_reason: Text.nullable(),
  /** The pipeline step that decided. */
  decided_by: Text,
  behavioral_score: z.number(),
  risk_tier: RiskTier,
  dlp_action: z.enum(['blocked', 'warned', 'logged']).nullable(),
  dlp_findings_count: z.int().nonnegative(),
  dlp_findings: List(z.looseObject({ severity: Severity })),
  /** Milliseconds from the arrival of the call to its decision. */
  latency_ms: z.number().nonnegative(),
  session_id: Text.nullable(),
  workflow_session_id: Id.nullable(),
  causal_depth: z.int().nonnegative(),
  parent_event_id: Id.nullable(),
  delegation_chain: List(Id),
  requester_id: Text.nullable(),
  requester_verified: z.boolean(),
  /** SHA-256(salt || RFC 8785 of {method, mcp_server, tool_name, arguments}); the salt lies outside the chain. */
  instruction_hash: Sha256Hex,
  region: Text.nullable(),
});

/** What became of an allowed call; joined to its decision when events are listed. */
export const OutcomeRecord = z.strictObject({
  ...envelope,
  type: z.literal('outcome'),
  /** The decision's id. */
  event_id: Id,
  outcome: z.enum([
    'forwarded',
    'tool_error',
    'upstream_error',
    'upstream_timeout',
    'result_too_large',
    'cancelled',
    'blocked',
    'outcome_unknown',
  ]),
  /** Milliseconds from the arrival of the call to its answer; null when unknown after a crash. */
  latency_ms: z.number().nonnegative().nullable(),
  /** SHA-256 of the result's bytes as they came, null where none came. */
  result_digest: Sha256Hex.nullable(),
  result_bytes: z.int().nonnegative().nullable(),
  inbound_findings_count: z.int().nonnegative(),
  detail: Text.nullable(),
});

export const AlertRecord = z.strictObject({
  ...envelope,
  type: z.literal('alert'),
  alert_type: Text,
  severity: Severity,
  agent_id: Id.nullable(),
  title: Text,
  details: z.record(z.string(), z.unknown()),
  /** Alerts with the same key are raised once while one of them is open; null: each is raised. */
  dedupe_key: Text.nullable(),
});

/** What an administrator, or the service itself, did on the control plane. */
export const AdminActionRecord = z.strictObject({
  ...envelope,
  type: z.literal('admin_action'),
  actor: z.strictObject({
    id: Text,
    username: Text,
    role: z.enum(['admin', 'super_admin', 'system', 'data_plane']),
    break_glass: z.boolean(),
  }),
  action: Text,
  target: Text,
  details: z.record(z.string(), z.unknown()),
});

export const LedgerRecord = z.discriminatedUnion('type', [
  EpochStartRecord,
  DecisionRecord,
  OutcomeRecord,
  AlertRecord,
  AdminActionRecord,
]);
export type LedgerRecord = z.infer<typeof LedgerRecord>;
export type LedgerRecordType = LedgerRecord['type'];
export type EpochStartRecord = z.infer<typeof EpochStartRecord>;
export type DecisionRecord = z.infer<typeof DecisionRecord>;
export type OutcomeRecord = z.infer<typeof OutcomeRecord>;
export type AlertRecord = z.infer<typeof AlertRecord>;
export type AdminActionRecord = z.infer<typeof AdminActionRecord>;

/** The fields that only the writer of the chain knows. */
export type ChainFields = 'v' | 'tenant_id' | 'stream' | 'epoch' | 'seq' | 'prev_hash';

type WithoutChain<R> = R extends LedgerRecord ? Omit<R, ChainFields> : never;

/** A record as its author hands it to the ledger, before it has a place in the chain. */
export type UnchainedRecord = WithoutChain<LedgerRecord>;

const CHAIN_FIELDS = {
  v: true,
  tenant_id: true,
  stream: true,
  epoch: true,
  seq: true,
  prev_hash: true,
} as const satisfies Record<ChainFields, true>;

/** A writer checks with it what it is given: nothing is chained that no reader would accept. */
export const UnchainedRecord = z.discriminatedUnion('type', [
  EpochStartRecord.omit(CHAIN_FIELDS),
  DecisionRecord.omit(CHAIN_FIELDS),
  OutcomeRecord.omit(CHAIN_FIELDS),
  AlertRecord.omit(CHAIN_FIELDS),
  AdminActionRecord.omit(CHAIN_FIELDS),
]) satisfies z.ZodType<UnchainedRecord>;

/** Where a stream stands: what the next record follows. */
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
  const { text, hash, seq } = chainText(head, record);
  return { bytes: Buffer.from(text), hash, seq };
}

/**
 * As `chainRecord`, for a writer that hands the text on as it is: a buffer for each record would
 * cost such a writer more than its hash.
 *
 * @returns the canonical text, whose UTF-8 bytes are to be stored, their hash and the seq
 * @throws TypeError as `chainRecord` does
 */
export function chainText(
  head: ChainHead,
  record: UnchainedRecord,
): { text: string; hash: string; seq: number } {
  const seq = head.seq + 1;
  const { tenant_id, stream, epoch, head: prev_hash } = head;
  const chain: Record<ChainFields, unknown> = { v: 1, tenant_id, stream, epoch, seq, prev_hash };
  const text = textInOrder(record, chain) ?? canonicalizeJoined(record, chain);
  return { text, hash: textHash(text), seq };
}

/** The members of a complete record, sorted once: sorting is most of writing one. */
const MEMBER_ORDER = new Map(
  LedgerRecord.options.map((schema) => {
    const keys = Object.keys(schema.shape).sort();
    const members = keys.map((key) => ({ key, quoted: `"${key}":`, chained: key in CHAIN_FIELDS }));
    const [type] = schema.shape.type.values;
    return [type, { members, own: members.filter((member) => !member.chained).length }];
  }),
);

/**
 * The canonical text of a record that has exactly the members of its type.
 *
 * @returns null for any other, whose members have to be sorted
 */
function textInOrder(record: UnchainedRecord, chain: Record<ChainFields, unknown>): string | null {
  const order = MEMBER_ORDER.get(record.type);
  if (!order || Object.keys(record).length !== order.own) return null;
  const own = record as unknown as Record<string, unknown>;
  let text = '';
  for (const { key, quoted, chained } of order.members) {
    const value = chained ? chain[key as ChainFields] : own[key];
    if (value === undefined) return null;
    text += `${text === '' ? '{' : ','}${quoted}${canonicalize(value)}`;
  }
  return `${text}}`;
}

/**
 * Reads a stored record back.
 *
 * @param bytes canonical JSON as UTF-8
 * @throws SyntaxError or ZodError when the bytes are no record of version 1
 * @throws TypeError when they are not in canonical form
 */
export function parseRecord(bytes: Uint8Array): LedgerRecord {
  if (!isUtf8(bytes)) throw new TypeError('the record is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const value: unknown = JSON.parse(text);
  if (!isCanonicalText(text, value)) throw new TypeError('the record is not in canonical form');
  return LedgerRecord.parse(value);
}
