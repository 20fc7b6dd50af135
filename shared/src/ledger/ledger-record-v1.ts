/**
 * Version 1 of the ledger's records, as data planes wrote them before version 2. It never changes:
 * its records stay valid and verifiable forever. ledger-record.ts builds version 2 upon it.
 */
import { z } from 'zod';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from '../text.ts';

export const RiskTier = z.enum(['low', 'medium', 'high', 'critical']);
export type RiskTier = z.infer<typeof RiskTier>;

export const Severity = z.enum(['info', 'low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof Severity>;

export const PolicyResult = z.enum(['allow', 'deny', 'escalate', 'dlp_block']);
export type PolicyResult = z.infer<typeof PolicyResult>;

/** Items of a list in a record. */
export const MAX_LIST_ITEMS = 1_000;

/**
 * A list whose length is checked before its items: the validator would report each of a million
 * wrong items, which takes seconds and hundreds of megabytes for one record of 1 MiB.
 */
export const List = <T extends z.ZodType>(item: T) =>
  z.array(z.unknown()).max(MAX_LIST_ITEMS).pipe(z.array(item));

/** The members of every record beside its own fields. */
export const ENVELOPE_V1 = {
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

/**
 * The first record of an epoch; it names the end of the previous epoch, so that a cut tail is
 * detected.
 */
export const EpochStartV1 = z.strictObject({
  ...ENVELOPE_V1,
  type: z.literal('epoch_start'),
  previous: z
    .strictObject({ epoch: Epoch, last_seq: z.int().positive(), head: Sha256Hex })
    .nullable(),
  reason: z.enum(['created', 'boot', 'restore']),
  writer_version: Text,
});

/** One tool call, one audit event: its id is the decision's id. */
export const DecisionV1 = z.strictObject({
  ...ENVELOPE_V1,
  type: z.literal('decision'),
  agent_id: Id,
  /** read, write, delete or execute; POST of a call to a local model. */
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

/** The outcome of an allowed call; joined to its decision when events are listed. */
export const OutcomeV1 = z.strictObject({
  ...ENVELOPE_V1,
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

export const AlertV1 = z.strictObject({
  ...ENVELOPE_V1,
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
export const AdminActionV1 = z.strictObject({
  ...ENVELOPE_V1,
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
