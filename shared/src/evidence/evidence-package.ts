/**
 * The members of an evidence package, version 1 (docs/evidence-format.md).
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../json/canonical-json.ts';
import { BatchHeader } from '../ledger/audit-batch.ts';
import { recordHash } from '../ledger/hash-chain.ts';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { PayloadPart, PayloadSalt } from './event-payload.ts';

export const EVIDENCE_FORMAT = 'agent-governance-evidence/v1';
/** The same members as one JSON document. */
export const EVIDENCE_JSON_FORMAT = 'agent-governance-evidence/v1+json';
export const EVIDENCE_PAYLOAD_TYPE = 'application/vnd.agent-governance.evidence.v1+json';

/** The members in their order; the checkpoints' notes come after `keys`. */
export const EVIDENCE_MEMBERS = {
  manifest: 'manifest.dsse.json',
  keys: 'keys.json',
  proofs: 'proofs.json',
  batches: 'batches.ndjson',
  events: 'events.ndjson',
  eventProofs: 'event-proofs.ndjson',
  causes: 'causes.ndjson',
  bundles: 'bundles.ndjson',
  payloads: 'payloads.ndjson',
  witness: 'witness.ndjson',
} as const;

/** The name of a checkpoint's member. */
export const checkpointMember = (size: number): string => `checkpoints/${size}.note`;

/**
 * The limits of a volume, so that it is verified in bounded memory. A larger export is cut into
 * volumes.
 */
export const VOLUME_LIMITS = {
  packedBytes: 64 * 1024 * 1024,
  unpackedBytes: 512 * 1024 * 1024,
  ratio: 100,
  members: 64,
  lineBytes: 1024 * 1024,
  jsonDepth: 32,
  batches: 100_000,
  events: 1_000_000,
  causes: 100_000,
  /** Checks that are remembered as disputed: three of each record that a volume is made with. */
  disputed: 300_000,
  payloads: 100_000,
  /** Records that their receiver could not read. */
  unread: 100_000,
  cosignatures: 1_000,
  /** Of manifest, keys and proofs, each. */
  documentBytes: 16 * 1024 * 1024,
} as const;

/** The limits of what a verifier remembers of the volumes of one export. */
export const SET_LIMITS = {
  streams: 100_000,
  approvals: 1_000_000,
  /** Records that their receiver could not read, with those before the first volume. */
  unread: 1_000_000,
} as const;

const Count = z.int().nonnegative();
const Hashes = z.array(Sha256Hex).max(64);

export const EvidenceScope = z.strictObject({
  /** Half-open: from <= time < to. */
  from: Timestamp,
  to: Timestamp,
  filter: z
    .strictObject({
      agent_ids: z.array(Id).max(1_000).optional(),
      workflow_session_id: Id.optional(),
    })
    .nullable(),
  kind: z.enum(['contiguous', 'selective']),
  include_payloads: z.boolean(),
});
export type EvidenceScope = z.infer<typeof EvidenceScope>;

/** What manifest.dsse.json signs. */
export const EvidenceManifest = z.strictObject({
  format: z.literal(EVIDENCE_FORMAT),
  package_id: Id,
  /** The same in all volumes of one export. */
  set_id: Id,
  tenant_id: Id,
  issuer: Text.max(500),
  created_at: Timestamp,
  scope: EvidenceScope,
  /**
   * Leaves from `start` up to, but not including, `end`; the checkpoint of size `end` is in the
   * package.
   */
  log: z.strictObject({
    origin: Text.max(300),
    epoch: z.int().positive(),
    start: Count,
    end: Count,
  }),
  /** The records of events.ndjson. */
  streams: z
    .array(
      z.strictObject({
        stream: Id,
        first: z.strictObject({ epoch: Epoch, seq: z.int().positive(), prev_hash: Sha256Hex }),
        last: z.strictObject({ epoch: Epoch, seq: z.int().positive(), hash: Sha256Hex }),
        records: z.int().positive(),
      }),
    )
    .max(10_000),
  files: z
    .array(z.strictObject({ name: Text.max(100), size: Count, sha256: Sha256Hex }))
    .max(VOLUME_LIMITS.members),
  bundles: z.array(z.strictObject({ digest: Sha256Hex, revision: z.int().positive() })).max(10_000),
  volume: z.strictObject({
    number: z.int().positive(),
    of: z.int().positive(),
    /** SHA-256 of the previous volume's manifest payload. */
    previous: Sha256Hex.nullable(),
  }),
  verification_metadata: z.strictObject({
    trust_anchor_url: Text.max(2_000),
    anchor_digest: Sha256Hex,
    spec_url: Text.max(2_000),
    key_ids: z.array(Text.max(200)).max(1_000),
  }),
});
export type EvidenceManifest = z.infer<typeof EvidenceManifest>;

/**
 * A record before the first one of a stream. An unreadable one does not say where it was: its place
 * is proven by a batch that contains it.
 */
export const EvidenceBoundary = z.strictObject({
  stream: Id,
  record: z.string(),
  place: z.strictObject({ leaf_index: Count, index: Count, path: Hashes }).optional(),
});
export type EvidenceBoundary = z.infer<typeof EvidenceBoundary>;

/** Records from before the package that it shows. */
export const MAX_BOUNDARIES = 10_000;

export const EvidenceProofs = z.strictObject({
  range: z.strictObject({ start: Count, end: Count, frontier: Hashes }).nullable(),
  leaves: z.array(z.strictObject({ leaf_index: Count, path: Hashes })).max(VOLUME_LIMITS.batches),
  consistency: z.array(z.strictObject({ from: Count, to: Count, path: Hashes })).max(10_000),
  boundaries: z.array(EvidenceBoundary).max(MAX_BOUNDARIES),
});
export type EvidenceProofs = z.infer<typeof EvidenceProofs>;

/** A line of batches.ndjson. */
export const BatchLine = z.strictObject({
  leaf_index: Count,
  header: BatchHeader,
  signature: z.string().max(200),
});
export type BatchLine = z.infer<typeof BatchLine>;

/** A line of event-proofs.ndjson: the event of the same line is the `index`th of that batch. */
export const EventProofLine = z.strictObject({ leaf_index: Count, index: Count, path: Hashes });
export type EventProofLine = z.infer<typeof EventProofLine>;

/** A line of causes.ndjson. */
export const CauseLine = z.strictObject({
  record: z.string(),
  leaf_index: Count,
  index: Count,
  path: Hashes,
});
export type CauseLine = z.infer<typeof CauseLine>;

/** A line of bundles.ndjson: the two members by which a bundle shows who signed which revision. */
export const BundleLine = z.strictObject({
  digest: Sha256Hex,
  revision: z.int().positive(),
  manifest: z.string(),
  signatures: z.string(),
});
export type BundleLine = z.infer<typeof BundleLine>;

/** A line of payloads.ndjson. */
export const PayloadLine = z.strictObject({
  event_id: Id,
  part: PayloadPart,
  salt: PayloadSalt,
  payload: z.string(),
});
export type PayloadLine = z.infer<typeof PayloadLine>;

/** A line of witness.ndjson: a cosignature, as a line of a note, on the checkpoint of a size. */
export const WitnessLine = z.strictObject({ size: Count, cosignature: z.string().max(1_000) });
export type WitnessLine = z.infer<typeof WitnessLine>;

/**
 * A line of events.ndjson for a record that the control plane kept without being able to read it:
 * its bytes, in base64. Every other line is a record, verbatim.
 */
export const UnreadRecord = z.strictObject({ unread_record: z.string() });

/**
 * The leaf of a signed batch in the tenant's log (RFC 6962 section 2.1): SHA-256(0x00 ‖ bytes).
 *
 * @returns lower-case hexadecimal
 */
export function batchLeafHash({
  header,
  signature,
}: {
  header: BatchHeader;
  signature: string;
}): string {
  return recordHash(Buffer.from(canonicalize({ header, signature })));
}

/** SHA-256 of a manifest's payload; the next volume names it. */
export const manifestDigest = (payload: Uint8Array): string => hash('sha256', payload, 'hex');
