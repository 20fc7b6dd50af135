/** What the checks of a package share: what was read of it, and what the reader was given. */
import type { LedgerRecord } from '../../ledger-record.ts';
import type { SignedCheckpoint } from '../checkpoint.ts';
import type { DsseEnvelope } from '../dsse.ts';
import type { EvidenceKeys, KeyEntry } from '../evidence-keys.ts';
import type { EvidenceManifest, EvidenceProofs } from '../evidence-package.ts';
import type { TrustAnchor } from '../trust-anchor.ts';
import type { Keyset, KeyUse, KnownKey } from './keyset.ts';
import type { FollowingRecord } from './unread-links.ts';

/** Keys of an issuer that this verifier's operator trusts, without a place in a log. */
export interface TrustedIssuer {
  issuer: string;
  /** Absent: for all of its tenants. */
  tenant_id?: string | undefined;
  keys: KeyEntry[];
}

export interface EvidenceTrust {
  anchor: TrustAnchor | null;
  issuers: readonly TrustedIssuer[];
}

export type Independence = 'independent' | 'issuer-anchored' | 'self-asserted';

export interface MemberSeen {
  name: string;
  size: number;
}

/** A package as far as it was read. Complete from `documents` on. */
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
  /** By stream: who signed a batch of it last. */
  signers: Map<string, KnownKey>;
  /** Of the streams that were there before the package; complete from `batchesEnd` on. */
  boundaries: BoundarySeen[];
  /** At the end of the events: a repetition has not come to a record that is known. */
  isRepetitionCut: boolean;
  /** Tells the checks of keys that one was used. */
  use(use: KeyUse): void;
}

/** The record before the first one of a stream. */
export interface BoundarySeen {
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
  fault: string | undefined;
  /** Whether what can be read of the stream up to it lies before the time of the package. */
  isBefore: boolean;
  /** In `proofs.boundaries`. */
  index: number;
  /** Those that are shown up to it and cannot be read. */
  unread: readonly FollowingRecord[];
}

/** A batch as it is remembered: its header without what repeats. */
export interface BatchView {
  line: number;
  leafIndex: number;
  leafHash: string;
  tenantId: string;
  stream: string;
  epoch: number;
  firstSeq: number;
  lastSeq: number;
  prevHead: string;
  head: string;
  eventRoot: string;
  /** Whose signature holds; undefined: nobody's. `batch` keys are the control plane's. */
  signer: KnownKey | undefined;
  /** Whether it lies in the package's range, which holds all of its records. */
  isInRange: boolean;
}

/** The members of a record that place it, of whatever else it says. */
export interface RecordPlace {
  tenant_id: string;
  stream: string;
  epoch: number;
  seq: number;
  prev_hash: string;
  timestamp: string;
  previous?: { epoch: number; last_seq: number; head: string } | null | undefined;
}

export interface RecordRead {
  hash: string;
  /** Null where the bytes are no JSON object that says where it belongs. */
  place: RecordPlace | null;
  /** Null where they are no record of a known version. */
  record: LedgerRecord | null;
  /** Kept by the control plane, which could not read it either. */
  isUnread: boolean;
  faults: { strict?: string; canonical?: string; schema?: string };
}

/** What is wrong with a record's place in its stream. */
export interface ChainFaults {
  sequence?: string;
  link?: string;
  epoch?: string;
  start?: string;
}

export interface EventView extends RecordRead {
  /** From 1. */
  line: number;
  /** Contiguous packages: the batch that it is in, and its place there. */
  batch: BatchView | undefined;
  index: number;
  chain: ChainFaults;
  /** Its place was there before: batches may overlap. */
  isRepeated: boolean;
  /** Contiguous packages: the hash of the record before it, as far as that is signed or shown. */
  follows: string | undefined;
}

export interface CauseView extends RecordRead {
  line: number;
  batch: BatchView | undefined;
}

export { recordsOf } from './batch-records.ts';
