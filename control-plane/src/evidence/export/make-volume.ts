/** Makes one volume of an export: content, proofs, keys, and the signed manifest over them. */

import { logOrigin } from '@governance/shared/evidence/checkpoint';
import { signEnvelope } from '@governance/shared/evidence/dsse';
import {
  EvidenceJwk,
  EvidenceKeys,
  type EvidenceSigner,
  signEvidenceStatement,
} from '@governance/shared/evidence/evidence-keys';
import {
  checkpointMember,
  EVIDENCE_FORMAT,
  EVIDENCE_MEMBERS,
  EVIDENCE_PAYLOAD_TYPE,
  EvidenceManifest,
  EvidenceProofs,
  manifestDigest,
} from '@governance/shared/evidence/evidence-package';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { calculateJwkThumbprint } from 'jose';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { anchorStore } from '../anchor-store.ts';
import { logEpochStore } from '../log-epoch-store.ts';
import { ensureCheckpoint } from '../log-growth.ts';
import { logStore } from '../log-store.ts';
import type { TrustAnchors } from '../trust-anchor.ts';
import { findCosigned } from './cosigned-checkpoints.ts';
import {
  type EvidenceRequest,
  type ExportPlan,
  ExportRefused,
  isSelective,
} from './evidence-request.ts';
import { documentMember, type Member } from './package-members.ts';
import { packageReads } from './package-reads.ts';
import type { ReadPayloads } from './payload-lines.ts';
import { readVolumeContent, type StreamExtent, type VolumeContent } from './volume-content.ts';

export interface VolumeRequest {
  request: EvidenceRequest;
  plan: ExportPlan;
  /** From 1. */
  number: number;
  /** The digest of the previous volume's manifest; null for the first volume. */
  previous: string | null;
  anchor: Awaited<ReturnType<TrustAnchors['describe']>>;
  signers: { evidence: EvidenceSigner; checkpoint: EvidenceSigner };
  readPayloads: ReadPayloads | undefined;
  now: Date;
}

export interface MadeVolume {
  id: string;
  members: Member[];
  events: number;
  unread: number;
  payloads: number;
  manifestDigest: string;
}

export async function makeVolume(
  tx: TenantTransaction,
  volume: VolumeRequest,
): Promise<MadeVolume> {
  const { request, plan, number, signers, now } = volume;
  const { tenantId } = tx.scope;
  const selective = isSelective(request);
  const leaves = {
    start: number === 1 ? plan.start : (plan.ends[number - 2] ?? 0),
    end: plan.ends[number - 1] ?? 0,
  };
  // Selected leaves are proven in the tree of the plan's size, a range of leaves in the tree that
  // ends with it.
  const size = selective ? plan.size : leaves.end;
  const parts = { ...leaves, size, exportStart: plan.start };
  const content = await readVolumeContent(tx, request, parts, volume.readPayloads);
  const checkpoint = await ensureCheckpoint(tx, signers.checkpoint.key, now, size);
  if (!checkpoint) throw new Error('the log is empty');
  // Each checkpoint is signed for one log epoch, and an export must not span two.
  if (checkpoint.epoch !== plan.log_epoch) {
    throw new ExportRefused('a restore was announced meanwhile: ask for it again');
  }
  const bundles = await packageReads(tx).findBundles(content.revisions);
  const head = await logStore(tx).findHead();
  const cosigned = await findCosigned(
    tx,
    { epoch: plan.log_epoch, from: size, to: head.size },
    volume.anchor.keys,
  );
  const sizes = [...cosigned.notes.keys()];
  const proofs = await prove(tx, volume, content, { ...leaves, size, cosigned: sizes });
  // The cosigned notes replace this one: a checkpoint that was signed again, with another time, is
  // not the one that witnesses cosigned.
  const notes = new Map([[size, checkpoint.note], ...cosigned.notes]);
  const members = [
    documentMember(EVIDENCE_MEMBERS.keys, await listKeys(tx, volume, content.streams)),
    ...noteMembers(notes),
    documentMember(EVIDENCE_MEMBERS.proofs, canonicalize(EvidenceProofs.parse(proofs))),
    content.batches,
    content.events,
    content.eventProofs,
    content.causes,
    linesMember(EVIDENCE_MEMBERS.bundles, bundles),
    content.payloads,
    linesMember(EVIDENCE_MEMBERS.witness, cosigned.lines),
  ].filter((member) => member !== undefined);
  const manifest = manifestOf(tenantId, volume, {
    log: { start: leaves.start, end: size },
    streams: content.streams,
    files: members.map(({ name, size, sha256 }) => ({ name, size, sha256 })),
    bundles: bundles.map(({ digest, revision }) => ({ digest, revision })),
  });
  const payload = Buffer.from(canonicalize(manifest));
  const envelope = signEnvelope(EVIDENCE_PAYLOAD_TYPE, payload, signers.evidence);
  return {
    id: manifest.package_id,
    members: [documentMember(EVIDENCE_MEMBERS.manifest, canonicalize(envelope)), ...members],
    events: content.eventCount,
    unread: content.unreadCount,
    payloads: content.payloadCount,
    manifestDigest: manifestDigest(payload),
  };
}

/** The checkpoints, the smallest first. */
function noteMembers(notes: ReadonlyMap<number, string>): Member[] {
  const sorted = [...notes].sort(([a], [b]) => a - b);
  return sorted.map(([at, note]) => documentMember(checkpointMember(at), note));
}

function manifestOf(
  tenantId: string,
  { request, plan, number, previous, anchor, now }: VolumeRequest,
  {
    log,
    ...content
  }: Pick<EvidenceManifest, 'streams' | 'files' | 'bundles'> & {
    log: { start: number; end: number };
  },
): EvidenceManifest {
  return EvidenceManifest.parse({
    format: EVIDENCE_FORMAT,
    package_id: uuidv7(now.getTime()),
    set_id: request.id,
    tenant_id: tenantId,
    issuer: anchor.issuer,
    created_at: now.toISOString(),
    scope: scopeOf(request),
    log: { origin: logOrigin(tenantId, plan.log_epoch), epoch: plan.log_epoch, ...log },
    ...content,
    volume: { number, of: plan.ends.length, previous },
    verification_metadata: anchor.metadata,
  });
}

const linesMember = (name: string, values: readonly object[]): Member | undefined =>
  values.length > 0
    ? documentMember(name, values.map((value) => `${canonicalize(value)}\n`).join(''))
    : undefined;

function scopeOf(request: EvidenceRequest): EvidenceManifest['scope'] {
  const { from, to, agentIds, workflowSessionId, includePayloads } = request;
  const selective = isSelective(request);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    filter: selective
      ? {
          ...(agentIds.length > 0 ? { agent_ids: agentIds } : {}),
          ...(workflowSessionId === null ? {} : { workflow_session_id: workflowSessionId }),
        }
      : null,
    kind: selective ? 'selective' : 'contiguous',
    include_payloads: includePayloads,
  };
}

async function prove(
  tx: TenantTransaction,
  { request }: VolumeRequest,
  content: VolumeContent,
  { start, end, size, cosigned }: { start: number; end: number; size: number; cosigned: number[] },
): Promise<EvidenceProofs> {
  const log = logStore(tx);
  const selective = isSelective(request);
  const leaves: EvidenceProofs['leaves'] = [];
  for (const leaf_index of content.proven) {
    leaves.push({ leaf_index, path: await log.proveInclusion(leaf_index, size) });
  }
  const frontier = selective ? [] : (await log.readFrontier(start)).map(({ hash }) => hash);
  const head = await log.findHead();
  const places = await anchorStore(tx).listSizes();
  // The places where earlier epochs ended, and the lost places, whose leaves may have been appended
  // again.
  for (const { statement } of await logEpochStore(tx).listAll()) {
    places.push(statement.restored.size);
    if (statement.highest_lost) places.push(statement.highest_lost.size);
  }
  const sizes = [...new Set([...places, ...request.anchorSizes, ...cosigned])].sort(
    (a, b) => a - b,
  );
  const consistency: EvidenceProofs['consistency'] = [];
  for (const anchored of sizes.filter((one) => one > 0 && one <= head.size)) {
    const [from, to] = anchored <= size ? [anchored, size] : [size, anchored];
    consistency.push({ from, to, path: await log.proveConsistency(from, to) });
  }
  return {
    range: selective ? null : { start, end, frontier },
    leaves,
    consistency,
    boundaries: content.boundaries,
  };
}

async function listKeys(
  tx: TenantTransaction,
  { anchor, signers }: VolumeRequest,
  streams: readonly StreamExtent[],
): Promise<string> {
  const { tenantId } = tx.scope;
  const reads = packageReads(tx);
  const writers: EvidenceKeys['writers'] = [];
  for (const row of await reads.findWriters(streams.map(({ stream }) => stream))) {
    const { kid, jwk } = await readWriterKey(row);
    writers.push(
      signEvidenceStatement(signers.evidence, {
        type: 'writer_key',
        v: 1,
        tenant_id: tenantId,
        stream: row.deploymentId,
        deployment_id: row.deploymentId,
        kid,
        jwk,
        registered_at: row.createdAt.toISOString(),
        // Set for a forked key only, since it has two holders: verifiers warn (ADR 92). A revoked
        // writer may still ship what it wrote.
        revoked_at: row.status === 'forked' ? (row.statusAt?.toISOString() ?? null) : null,
      }),
    );
  }
  const log_epochs = await logEpochStore(tx).listAll();
  const keys = EvidenceKeys.parse({
    keys: anchor.keys,
    rotations: anchor.rotations,
    writers,
    log_epochs,
  });
  return canonicalize(keys);
}

/** @throws ExportRefused where somebody edited the stored key */
async function readWriterKey(row: { deploymentId: string; signingKey: string }) {
  try {
    const jwk = EvidenceJwk.parse(JSON.parse(row.signingKey));
    return { kid: await calculateJwkThumbprint(jwk), jwk };
  } catch (cause) {
    const reason = 'cannot be read: verify the chain (GET /api/v1/audit/verify)';
    throw new ExportRefused(`the stored key of data plane ${row.deploymentId} ${reason}`, {
      cause,
    });
  }
}
