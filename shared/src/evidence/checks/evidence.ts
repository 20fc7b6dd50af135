/** What the checks of a package share: what was read from it, and what the reader was given. */
import type { DisputableCheck } from '../../ledger/record-dispute.ts';
import type { SignedCheckpoint } from '../checkpoint.ts';
import type { DsseEnvelope } from '../dsse.ts';
import type { EvidenceKeys, KeyEntry } from '../evidence-keys.ts';
import type { EvidenceManifest, EvidenceProofs } from '../evidence-package.ts';
import type { TrustAnchor } from '../trust-anchor.ts';
import type { SignedRecords } from './batch-records.ts';
import type { Keyset, KeyUse, KnownKey } from './keyset.ts';
import type { RecordRead } from './read-record.ts';
import type { FollowingRecord, StreamPlace } from './unread-links.ts';

/** Keys of an issuer that this verifier's operator trusts, without a place in a log. */
export interface TrustedIssuer {
  issuer: string;
  /** Absent: for all of the issuer's tenants. */
  tenant_id?: string | undefined;
  keys: KeyEntry[];
}

export interface EvidenceTrust {
  anchor: TrustAnchor | null;
  issuers: readonly TrustedIssuer[];
}

export type Independence = 'independent' | 'issuer-anchored' | 'self-asserted';

/** A package as far as it was read; complete once `documents` was called. */
export interface Evidence {
  trust: EvidenceTrust;
  independence: Independence;
  envelope: DsseEnvelope;
  manifest: EvidenceManifest;
  keys: EvidenceKeys;
  keyset: Keyset;
  /** By size. */
  checkpoints: Map<number, SignedCheckpoint>;
  proofs: EvidenceProofs;
  /** By leaf index. */
  batches: Map<number, BatchView>;
  /** By stream: who signed its last batch. */
  signers: Map<string, KnownKey>;
  /** For streams that existed before the package; complete once `batchesEnd` was called. */
  boundaries: BoundarySeen[];
  /** At the end of the events: a repetition has not reached a known record. */
  isRepetitionCut: boolean;
  /** Complete at the end of the package. */
  disputes: DisputeLookUp;
  /** Tells the checks of keys that a key was used. */
  use(use: KeyUse): void;
}

/** An event that a check may find at fault. */
export interface DisputableRecord extends StreamPlace {
  line: number;
  stream: string;
  /** In selective packages a line of proof says it later. */
  leafIndex: number | undefined;
}

export interface DisputeLookUp {
  /** Whether the control plane disputed a check of a record before it took the record. */
  isDisputed(check: DisputableCheck, record: DisputableRecord): boolean;
}

/** The record before the first one of a stream. */
export interface BoundarySeen extends StreamPlace {
  stream: string;
  fault: string | undefined;
  /** Whether the readable part of the stream up to it lies before the package's time. */
  isBefore: boolean;
  /** In `proofs.boundaries`. */
  index: number;
  /** Those shown up to it that cannot be read. */
  unread: readonly FollowingRecord[];
}

/** A batch as it is kept in memory: its header without redundant members. */
export interface BatchView extends SignedRecords {
  line: number;
  leafIndex: number;
  leafHash: string;
  tenantId: string;
  stream: string;
  epoch: number;
  head: string;
  /**
   * The key whose signature holds; undefined when none does. `batch` keys are the control plane's.
   */
  signer: KnownKey | undefined;
  /** Whether it lies in the package's range, which holds all of its records. */
  isInRange: boolean;
}

/** What is wrong with a record's place in its stream. */
export interface ChainFaults {
  sequence?: string;
  link?: string;
  epoch?: string;
  start?: string;
}

export interface CauseView extends RecordRead {
  /** From 1. */
  line: number;
  batch: BatchView | undefined;
}

/** Only in contiguous packages does an event name its batch. */
export interface EventView extends CauseView {
  /** Its place in the batch. */
  index: number;
  chain: ChainFaults;
  /** Its place occurred before: batches may overlap. */
  isRepeated: boolean;
  /**
   * In contiguous packages: the hash of the record before it, as far as that is signed or shown.
   */
  follows: string | undefined;
}

export { recordsOf } from './batch-records.ts';
