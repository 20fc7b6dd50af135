/**
 * A tenant with its data planes, admin chain, keys and log, all in memory: what a control plane
 * would have stored. package-builder.ts makes packages of it.
 */

import { signBundle } from '@governance/shared/bundle/bundle-signature';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import {
  type EvidenceKeys,
  type KeyEntry,
  type KeyPurpose,
  type KeyRotation,
  type LogEpoch,
  signEvidenceStatement,
  signRotation,
} from '@governance/shared/evidence/evidence-keys';
import { batchLeafHash } from '@governance/shared/evidence/evidence-package';
import { createMerkleTree } from '@governance/shared/evidence/merkle-proofs';
import { TRUST_ANCHOR_FORMAT, type TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { type BatchHeader, signBatch } from '@governance/shared/ledger/audit-batch';
import { GENESIS_HASH, recordHash } from '@governance/shared/ledger/hash-chain';
import { chainRecord, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { aDecision } from '@governance/shared/testing/test-records';
import { aBundleKey, anEd25519Key, idOf, type TestKey } from './test-keys.ts';

export interface Leaf {
  header: BatchHeader;
  signature: string;
  records: Buffer[];
}

type RotatedPurpose = 'evidence' | 'checkpoint' | 'batch' | 'bundle';
type Decision = Extract<UnchainedRecord, { type: 'decision' }>;
const START = Date.parse('2026-01-02T03:04:05.678Z');
export const timeOf = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

/** One writer's chain. */
export class TestStream {
  readonly id: string;
  key: TestKey;
  epoch = 0;
  seq = 0;
  head = GENESIS_HASH;
  waiting: Buffer[] = [];
  /** For records that do not say it themselves. */
  readonly #before = new Map<Buffer, string>();
  readonly #tenant: TestTenant;

  constructor(tenant: TestTenant, id: string, key: TestKey) {
    this.#tenant = tenant;
    this.id = id;
    this.key = key;
  }

  /** A new epoch, as at each boot. */
  boot(): void {
    const { epoch, seq: last_seq, head } = this;
    this.epoch++;
    this.seq = 0;
    this.add({
      type: 'epoch_start',
      previous: epoch === 0 ? null : { epoch, last_seq, head },
      reason: epoch === 0 ? 'created' : 'boot',
      writer_version: '0.1.0',
      bundle_revision: null,
    });
  }

  add(record: Omit<UnchainedRecord, 'id' | 'timestamp'> & Record<string, unknown>): string {
    const id = String(record.id ?? this.#tenant.nextId());
    const timestamp = record.timestamp ?? this.#tenant.now();
    const whole = { ...record, id, timestamp } as UnchainedRecord;
    const { id: stream, epoch, seq, head } = this;
    const chained = chainRecord({ tenant_id: this.#tenant.id, stream, epoch, seq, head }, whole);
    this.waiting.push(chained.bytes);
    this.seq = chained.seq;
    this.head = chained.hash;
    return id;
  }

  /** Unreadable bytes, which a control plane keeps all the same. */
  addUnreadable(bytes: Buffer): void {
    this.waiting.push(bytes);
    this.#before.set(bytes, this.head);
    this.seq++;
    this.head = recordHash(bytes);
  }

  /** Signs the pending records, and adds the batch to the log as a leaf. */
  ship(): void {
    const hashes = this.waiting.map(recordHash);
    const prev_head = this.#prevHeadOf(this.waiting[0] as Buffer);
    const place = { tenant_id: this.#tenant.id, stream: this.id, epoch: this.epoch };
    const last_seq = this.seq;
    const first_seq = last_seq - hashes.length + 1;
    const header = { ...place, first_seq, last_seq, prev_head, head: this.head };
    const records = this.waiting;
    this.waiting = [];
    this.#tenant.leaves.push({ ...signBatch(this.key.key, header, hashes), records });
  }

  #prevHeadOf(bytes: Buffer): string {
    return this.#before.get(bytes) ?? JSON.parse(bytes.toString('utf8')).prev_hash;
  }
}

export class TestTenant {
  readonly id: string;
  readonly issuer = 'https://governance.example';
  readonly keys: Record<'evidence' | 'checkpoint' | 'batch' | 'bundle', TestKey>;
  readonly entries: KeyEntry[] = [];
  rotations: EvidenceKeys['rotations'] = [];
  logEpochs: EvidenceKeys['log_epochs'] = [];
  writers: EvidenceKeys['writers'] = [];
  leaves: Leaf[] = [];
  logEpoch = 1;
  readonly admin: TestStream;
  readonly bundles: { digest: string; revision: number; manifest: string; signatures: string }[] =
    [];
  readonly payloads: {
    event_id: string;
    part: 'input' | 'result';
    salt: string;
    payload: string;
  }[] = [];
  readonly seed: string;
  #ids = 0;
  #seconds = 0;

  constructor(seed: string) {
    this.seed = seed;
    this.id = idOf(`${seed}/tenant`);
    this.keys = {
      evidence: anEd25519Key(`${seed}-evidence-1`),
      checkpoint: anEd25519Key(`${seed}-checkpoint-1`),
      batch: anEd25519Key(`${seed}-batch-1`),
      bundle: aBundleKey(`${seed}-bundle-1`),
    };
    for (const purpose of ['evidence', 'checkpoint', 'batch', 'bundle'] as const) {
      this.entries.push(this.entryOf(purpose, this.keys[purpose]));
    }
    this.admin = new TestStream(this, idOf(`${seed}/admin`), this.keys.batch);
    this.admin.boot();
    this.publish(7);
  }

  entryOf(purpose: KeyPurpose, { kid, jwk }: TestKey, validFrom = timeOf(-60)): KeyEntry {
    return { kid, purpose, jwk, valid_from: validFrom, valid_to: null, revoked_at: null };
  }

  nextId = (): string => idOf(`${this.seed}/${this.#ids++}`);
  now = (): string => timeOf(this.#seconds++);
  /** Passes time. */
  wait(seconds: number): void {
    this.#seconds += seconds;
  }

  /** A data plane with its writer's key. */
  plane(name: string): TestStream {
    const key = anEd25519Key(`${this.seed}-${name}`);
    const stream = new TestStream(this, idOf(`${this.seed}/${name}`), key);
    this.writers.push(this.writerStatement(stream));
    stream.boot();
    return stream;
  }

  writerStatement(stream: TestStream, signer: TestKey = this.keys.evidence) {
    return signEvidenceStatement(signer, {
      type: 'writer_key',
      v: 1,
      tenant_id: this.id,
      stream: stream.id,
      deployment_id: stream.id,
      kid: stream.key.kid,
      jwk: stream.key.jwk,
      registered_at: timeOf(0),
      revoked_at: null,
    });
  }

  signWriter(statement: EvidenceKeys['writers'][number]['statement']) {
    return signEvidenceStatement(this.keys.evidence, statement);
  }

  rotationTo(purpose: RotatedPurpose, next: TestKey, at: string): KeyRotation {
    return {
      type: 'key_rotation',
      v: 1,
      purpose,
      old_kid: this.keys[purpose].kid,
      new_key: { kid: next.kid, jwk: next.jwk },
      valid_from: at,
      time: at,
    };
  }

  /** Rotates a key regularly: from now on the next one signs. */
  rotate(purpose: RotatedPurpose, next: TestKey): void {
    const at = this.now();
    const statement = this.rotationTo(purpose, next, at);
    this.rotations.push(signRotation(statement, this.keys[purpose], next));
    const old = this.entries.find(({ kid }) => kid === this.keys[purpose].kid);
    if (old) old.valid_to = at;
    this.entries.push(this.entryOf(purpose, next, at));
    this.keys[purpose] = next;
    if (purpose === 'batch') this.admin.key = next;
  }

  /**
   * A restore lost everything after a size; leaves added now are others.
   *
   * @param said what the announcement says, if not the truth
   */
  restoreTo(size: number, said: Partial<LogEpoch> = {}): void {
    const epoch = this.logEpoch;
    const highest = { epoch, size: this.leaves.length, root: this.rootOf(this.leaves.length) };
    const statement: LogEpoch = {
      type: 'log_epoch',
      v: 1,
      tenant_id: this.id,
      epoch: epoch + 1,
      time: this.now(),
      restored: { epoch, size, root: this.rootOf(size) },
      highest_lost: highest,
      ...said,
    };
    this.logEpochs.push(signEvidenceStatement(this.keys.checkpoint, statement));
    this.leaves = this.leaves.slice(0, size);
    this.logEpoch = statement.epoch;
  }

  publish(revision: number): void {
    const metadata = {
      tenant_id: this.id,
      entrypoints: ['governance/decision'],
      sources_digest: 's',
    };
    const manifest = JSON.stringify({
      revision: String(revision),
      roots: ['governance'],
      rego_version: 1,
      metadata,
    });
    const files = new Map([['.manifest', Buffer.from(manifest)]]);
    const { kid, key } = this.keys.bundle;
    const signatures = signBundle(files, { kid, key, alg: 'ES256', scope: this.id });
    const digest = recordHash(Buffer.from(`bundle ${revision}`));
    this.bundles.push({ digest, revision, manifest, signatures: signatures.toString('utf8') });
  }

  /** A decided call. */
  decide(plane: TestStream, given: Partial<Decision> & { payload?: string } = {}): string {
    const { payload, ...members } = given;
    const id = given.id ?? this.nextId();
    const salt = Buffer.from(id.replaceAll('-', ''), 'hex');
    if (payload !== undefined) {
      const text = salt.toString('base64url');
      this.payloads.push({ event_id: id, part: 'input', salt: text, payload });
    }
    return plane.add({
      ...aDecision({
        timestamp: given.timestamp ?? this.now(),
        bundle_revision: 7,
        agent_id: idOf(`${this.seed}/agent`),
        target: 'files/report.txt',
        instruction_hash: recordHash(Buffer.from('call')),
      }),
      payload_digest: payload === undefined ? null : payloadDigest(salt, payload),
      ...members,
      id,
    });
  }

  /** An administrator's action. */
  act(action: string, target: string, details: Record<string, unknown>): void {
    this.admin.add({
      type: 'admin_action',
      bundle_revision: null,
      actor: { id: 'anna', username: 'anna', role: 'admin', break_glass: false },
      action,
      target,
      details,
    });
    this.admin.ship();
  }

  leafHashes = (): string[] => this.leaves.map(batchLeafHash);

  rootOf(size: number): string {
    const tree = createMerkleTree();
    for (const leaf of this.leafHashes().slice(0, size)) tree.add(leaf);
    return tree.root();
  }

  checkpoint(size: number, epoch = this.logEpoch): string {
    const origin = logOrigin(this.id, epoch);
    const root = this.rootOf(size);
    return signCheckpoint({ origin, size, root, time: this.now() }, this.keys.checkpoint.key);
  }

  /** The anchor from when the log had this size. */
  anchor(size: number, given: Partial<TrustAnchor> = {}): TrustAnchor {
    const epoch = this.logEpoch;
    return {
      format: TRUST_ANCHOR_FORMAT,
      issuer: this.issuer,
      tenant_id: this.id,
      issued_at: timeOf(0),
      keys: structuredClone(this.entries),
      log: { origin: logOrigin(this.id, epoch), epoch, size, root: this.rootOf(size) },
      spec_url: 'https://governance.example/evidence-format',
      ...given,
    };
  }
}
