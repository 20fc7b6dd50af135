/**
 * Makes evidence packages of a test tenant: first their parts, which a test may forge, then the
 * signed archive. Independent of the checks: it uses only the format's primitives.
 */

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { logOrigin } from '@governance/shared/evidence/checkpoint';
import { signEnvelope } from '@governance/shared/evidence/dsse';
import type { EvidenceKeys } from '@governance/shared/evidence/evidence-keys';
import {
  type BatchLine,
  type BundleLine,
  type CauseLine,
  checkpointMember,
  EVIDENCE_FORMAT,
  EVIDENCE_JSON_FORMAT,
  EVIDENCE_MEMBERS,
  EVIDENCE_PAYLOAD_TYPE,
  type EventProofLine,
  type EvidenceManifest,
  type EvidenceProofs,
  manifestDigest,
  type PayloadLine,
  type WitnessLine,
} from '@governance/shared/evidence/evidence-package';
import { MAX_SHOWN_BYTES } from '@governance/shared/evidence/large-record';
import {
  createMerkleTree,
  planConsistency,
  planInclusion,
} from '@governance/shared/evidence/merkle-proofs';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { anchorDigest } from '@governance/shared/evidence/trust-anchor';
import { USTAR_END, ustarHeader, ustarPadding } from '@governance/shared/evidence/ustar';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { describeLargeRecord, proofOf } from '@governance/shared/testing/test-evidence';
import { idOf, type TestKey } from './test-keys.ts';
import { type TestTenant, timeOf } from './test-tenant.ts';

/** A package before it is signed and packed. */
export interface PackageParts {
  manifest: EvidenceManifest;
  keys: EvidenceKeys;
  checkpoints: Map<number, string>;
  proofs: EvidenceProofs;
  batches: BatchLine[];
  events: Buffer[];
  eventProofs: EventProofLine[];
  causes: CauseLine[];
  bundles: BundleLine[];
  payloads: PayloadLine[];
  witness: WitnessLine[];
}

/** A package that is verified against its anchor. */
export interface GoodPackage {
  name: string;
  make(): { bytes: Buffer; anchor: TrustAnchor };
}

export interface PackageRequest {
  start?: number;
  end?: number;
  kind?: 'contiguous' | 'selective';
  /** Selective: which records. */
  pick?: (bytes: Buffer) => boolean;
  /** The records outside the scope that are shown. */
  causes?: (bytes: Buffer) => boolean;
  filter?: EvidenceManifest['scope']['filter'];
  payloads?: boolean;
  /** Sizes from which consistency is shown. */
  anchorSizes?: number[];
  volume?: EvidenceManifest['volume'];
  from?: string;
}

interface Stored {
  bytes: Buffer;
  hash: string;
  leafIndex: number;
  index: number;
  stream: string;
  epoch: number;
  seq: number;
  prevHash: string;
}

/** The parts of a good package. */
export function aPackage(tenant: TestTenant, request: PackageRequest = {}): PackageParts {
  const { start = 0, end = tenant.leaves.length, kind = 'contiguous' } = request;
  const stored = recordsOf(tenant);
  const isInside = ({ leafIndex, bytes }: Stored) =>
    leafIndex >= start && leafIndex < end && (kind === 'contiguous' || !!request.pick?.(bytes));
  const inside = stored.filter(isInside);
  const causes = stored.filter((one) => !isInside(one) && !!request.causes?.(one.bytes));
  const hashes = tenant.leafHashes().slice(0, end);
  const isRange = (leaf: number) => kind === 'contiguous' && leaf >= start && leaf < end;
  const apart = new Set([...inside, ...causes].map(({ leafIndex }) => leafIndex));
  const pathIn = ({ leafIndex, index }: Stored): string[] => {
    const { records } = tenant.leaves[leafIndex] ?? { records: [] };
    return proofOf(planInclusion(index, records.length), records.map(recordHash));
  };
  const boundaries = kind === 'contiguous' ? boundariesOf(stored, inside, pathIn) : [];
  for (const { place } of boundaries) if (place) apart.add(place.leaf_index);
  const proven = [...apart].filter((leaf) => !isRange(leaf)).sort((a, b) => a - b);
  const named = kind === 'contiguous' ? range(start, end) : [];
  const before = createMerkleTree();
  for (const leaf of hashes.slice(0, start)) before.add(leaf);
  const rangeProof = kind === 'contiguous' ? { start, end, frontier: before.frontier() } : null;
  return {
    manifest: manifestOf(tenant, request, inside),
    keys: {
      keys: structuredClone(tenant.entries),
      rotations: tenant.rotations,
      writers: tenant.writers,
      log_epochs: tenant.logEpochs,
    },
    checkpoints: new Map([[end, tenant.checkpoint(end)]]),
    proofs: {
      range: rangeProof,
      leaves: proven.map((leaf_index) => ({
        leaf_index,
        path: proofOf(planInclusion(leaf_index, end), hashes),
      })),
      consistency: sizesOf(tenant, request).map((size) => {
        const [from, to] = size < end ? [size, end] : [end, size];
        return { from, to, path: proofOf(planConsistency(from, to), tenant.leafHashes()) };
      }),
      boundaries,
    },
    batches: [...named, ...proven]
      .sort((a, b) => a - b)
      .map((leaf_index) => {
        const { header, signature } = tenant.leaves[leaf_index] as (typeof tenant.leaves)[number];
        return { leaf_index, header, signature };
      }),
    events: inside.map(({ bytes }) => (isReadable(bytes) ? bytes : unread(bytes))),
    eventProofs:
      kind === 'contiguous'
        ? []
        : inside.map((one) => ({ leaf_index: one.leafIndex, index: one.index, path: pathIn(one) })),
    causes: causes.map((one) => ({
      record: one.bytes.toString('utf8'),
      leaf_index: one.leafIndex,
      index: one.index,
      path: pathIn(one),
    })),
    bundles: structuredClone(tenant.bundles),
    payloads: request.payloads ? structuredClone(tenant.payloads) : [],
    witness: [],
  };
}

/** The sizes of anchors, and of the places where restores kept the log. */
function sizesOf(tenant: TestTenant, { anchorSizes = [] }: PackageRequest): number[] {
  const places = tenant.logEpochs.map(({ statement }) => statement.restored.size);
  const shown = places.filter((size) => size > 0 && size <= tenant.leaves.length);
  return [...new Set([...anchorSizes, ...shown])];
}

const range = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, i) => start + i);

function isReadable(bytes: Buffer): boolean {
  try {
    parseRecord(bytes);
    return true;
  } catch {
    return false;
  }
}

const unread = (bytes: Buffer): Buffer =>
  Buffer.from(
    canonicalize(
      bytes.length > MAX_SHOWN_BYTES
        ? describeLargeRecord(bytes)
        : { unread_record: bytes.toString('base64') },
    ),
  );

function recordsOf(tenant: TestTenant): Stored[] {
  return tenant.leaves.flatMap(({ header, records }, leafIndex) => {
    const { stream, epoch, first_seq, prev_head } = header;
    const hashes = [prev_head, ...records.map(recordHash)];
    return records.map((bytes, index) => ({
      ...{
        bytes,
        hash: recordHash(bytes),
        leafIndex,
        index,
        stream,
        epoch,
        seq: first_seq + index,
      },
      prevHash: hashes[index] as string,
    }));
  });
}

/**
 * For each stream the record before its first one; if that is unreadable, all records back to a
 * readable one, proven.
 */
function boundariesOf(
  stored: Stored[],
  inside: Stored[],
  pathIn: (one: Stored) => string[],
): EvidenceProofs['boundaries'] {
  const firsts = new Map<string, Stored>();
  for (const one of inside) if (!firsts.has(one.stream)) firsts.set(one.stream, one);
  return [...firsts.values()].flatMap((first) => {
    const known = stored
      .slice(0, stored.indexOf(first))
      .filter((one) => one.stream === first.stream);
    const run: Stored[] = [];
    for (let at = first; ; at = run[0] as Stored) {
      const before = known.findLast((one) => isBehind(one, at));
      if (before) run.unshift(before);
      if (!before || isReadable(before.bytes)) break;
    }
    const [only] = run;
    if (run.length === 1 && only && isReadable(only.bytes)) {
      return [{ stream: first.stream, record: only.bytes.toString('utf8') }];
    }
    return run.map((one) => ({
      stream: first.stream,
      record: (isReadable(one.bytes) ? one.bytes : unread(one.bytes)).toString('utf8'),
      place: { leaf_index: one.leafIndex, index: one.index, path: pathIn(one) },
    }));
  });
}

/** From the later one's batch, if that has both. */
function isBehind(one: Stored, later: Stored): boolean {
  if (later.index > 0) return one.leafIndex === later.leafIndex && one.index === later.index - 1;
  return one.hash === later.prevHash && (one.epoch < later.epoch || one.seq === later.seq - 1);
}

/** What the manifest says about the streams of these records. */
export function streamsOf(records: readonly Buffer[]): EvidenceManifest['streams'] {
  const streams = new Map<string, EvidenceManifest['streams'][number]>();
  let last: { stream: string; epoch: number; seq: number } | undefined;
  for (const bytes of records) {
    const hash = recordHash(bytes);
    const place = isReadable(bytes) ? parseRecord(bytes) : last && { ...last, seq: last.seq + 1 };
    if (!place) continue;
    const { stream, epoch, seq } = place;
    last = { stream, epoch, seq };
    const known = streams.get(stream);
    if (known) {
      known.last = { epoch, seq, hash };
      known.records++;
    } else {
      const prev_hash = 'prev_hash' in place ? place.prev_hash : '';
      const first = { epoch, seq, prev_hash };
      streams.set(stream, { stream, first, last: { epoch, seq, hash }, records: 1 });
    }
  }
  return [...streams.values()];
}

/** Like `streamsOf`; records that batches repeat count once. */
function extentsOf(records: readonly Stored[]): EvidenceManifest['streams'] {
  const streams = new Map<string, EvidenceManifest['streams'][number]>();
  for (const { stream, epoch, seq, hash, prevHash: prev_hash } of records) {
    const known = streams.get(stream);
    const last = { epoch, seq, hash };
    if (!known) {
      streams.set(stream, { stream, first: { epoch, seq, prev_hash }, last, records: 1 });
    } else if (epoch !== known.last.epoch || seq > known.last.seq) {
      Object.assign(known, { last, records: known.records + 1 });
    }
  }
  return [...streams.values()];
}

function manifestOf(
  tenant: TestTenant,
  request: PackageRequest,
  inside: readonly Stored[],
): EvidenceManifest {
  const { start = 0, end = tenant.leaves.length, kind = 'contiguous', filter = null } = request;
  const { from = timeOf(0), payloads = false } = request;
  const number = request.volume?.number ?? 1;
  const epoch = tenant.logEpoch;
  return {
    format: EVIDENCE_FORMAT,
    package_id: idOf(`${tenant.seed}/package/${number}`),
    set_id: idOf(`${tenant.seed}/set`),
    tenant_id: tenant.id,
    issuer: tenant.issuer,
    created_at: tenant.now(),
    scope: { from, to: timeOf(1_000_000), filter, kind, include_payloads: payloads },
    log: { origin: logOrigin(tenant.id, epoch), epoch, start, end },
    streams: extentsOf(inside),
    files: [],
    bundles: tenant.bundles.map(({ digest, revision }) => ({ digest, revision })),
    volume: request.volume ?? { number: 1, of: 1, previous: null },
    verification_metadata: {
      trust_anchor_url: 'https://verifier.example/trust-anchor.json',
      anchor_digest: anchorDigest(tenant.anchor(0)),
      spec_url: 'https://governance.example/evidence-format',
      key_ids: tenant.entries.map(({ kid }) => kid),
    },
  };
}

export type Members = [name: string, content: Buffer][];

const lines = (values: readonly unknown[]): Buffer =>
  Buffer.from(values.map((value) => `${canonicalize(value)}\n`).join(''));

/** The members, with the manifest that is signed over the others. */
export function sealPackage(parts: PackageParts, signer: TestKey): Members {
  const records = parts.events.flatMap((bytes) => [bytes, Buffer.from('\n')]);
  const optional: Members = [
    [EVIDENCE_MEMBERS.eventProofs, lines(parts.eventProofs)],
    [EVIDENCE_MEMBERS.causes, lines(parts.causes)],
    [EVIDENCE_MEMBERS.bundles, lines(parts.bundles)],
    [EVIDENCE_MEMBERS.payloads, lines(parts.payloads)],
    [EVIDENCE_MEMBERS.witness, lines(parts.witness)],
  ];
  const others: Members = [
    [EVIDENCE_MEMBERS.keys, Buffer.from(canonicalize(parts.keys))],
    ...[...parts.checkpoints]
      .sort(([a], [b]) => a - b)
      .map(([size, note]): Members[number] => [checkpointMember(size), Buffer.from(note)]),
    [EVIDENCE_MEMBERS.proofs, Buffer.from(canonicalize(parts.proofs))],
    [EVIDENCE_MEMBERS.batches, lines(parts.batches)],
    [EVIDENCE_MEMBERS.events, Buffer.concat(records)],
    ...optional.filter(([, content]) => content.length > 0),
  ];
  return signMembers(parts.manifest, others, signer);
}

/** Puts a manifest that lists the other members before them. */
export function signMembers(manifest: EvidenceManifest, others: Members, signer: TestKey): Members {
  const files = others.map(([name, content]) => ({
    name,
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const payload = Buffer.from(canonicalize({ ...manifest, files }));
  const envelope = signEnvelope(EVIDENCE_PAYLOAD_TYPE, payload, signer);
  return [[EVIDENCE_MEMBERS.manifest, Buffer.from(canonicalize(envelope))], ...others];
}

/** The digest by which the next volume names a package. */
export function digestOf(members: Members): string {
  const envelope = JSON.parse(String(members[0]?.[1]));
  return manifestDigest(Buffer.from(envelope.payload, 'base64'));
}

export function archiveOf(members: Members): Buffer {
  return Buffer.concat([
    ...members.flatMap(([name, content]) => [
      ustarHeader(name, content.length),
      content,
      ustarPadding(content.length),
    ]),
    USTAR_END,
  ]);
}

/** evidence.tar.gz. */
export const packMembers = (members: Members): Buffer => gzipSync(archiveOf(members));

/** The same as one JSON document. */
export const jsonOf = (members: Members): Buffer =>
  Buffer.from(
    JSON.stringify({
      format: EVIDENCE_JSON_FORMAT,
      members: Object.fromEntries(
        members.map(([name, content]) => [name, content.toString('utf8')]),
      ),
    }),
  );

/** All steps of making a good package. */
export const aPacked = (tenant: TestTenant, request: PackageRequest = {}): Buffer =>
  packMembers(sealPackage(aPackage(tenant, request), tenant.keys.evidence));
