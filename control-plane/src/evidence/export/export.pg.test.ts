/** Packages are requested, made and downloaded, and checked with the library's proofs. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { isCheckpointSignedBy, parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { DsseEnvelope, payloadOf, verifyEnvelope } from '@governance/shared/evidence/dsse';
import { EvidenceKeys } from '@governance/shared/evidence/evidence-keys';
import {
  BatchLine,
  BundleLine,
  batchLeafHash,
  EventProofLine,
  EvidenceManifest,
  EvidenceProofs,
  manifestDigest,
  VOLUME_LIMITS,
} from '@governance/shared/evidence/evidence-package';
import { gunzip } from '@governance/shared/evidence/gunzip';
import {
  createMerkleTree,
  isConsistent,
  rootOfInclusion,
} from '@governance/shared/evidence/merkle-proofs';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { readUstar } from '@governance/shared/evidence/ustar';
import { uuidv7 } from '@governance/shared/ids';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { describe, expect, it, vi } from 'vitest';
import { aHoldOpened } from '../../../../tests/support/a-data-plane.ts';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { beginLogEpoch } from '../begin-log-epoch.ts';

vi.setConfig({ testTimeout: 60_000 });

const time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const { call, test, aTenantAdmin, aColleague } = plane;
const PACKAGES = '/api/v1/evidence/packages';

const aPlane = (admin: Awaited<ReturnType<typeof aTenantAdmin>>) => aShippingPlane(plane, admin);

const hour = { from: new Date(time - 3_600_000).toISOString(), to: new Date(time + 3_600_000) };
const LAST_HOUR = { from: hour.from, to: hour.to.toISOString() };

/** By package: the reader's earlier anchor. */
const anchors = new Map<string, TrustAnchor>();

const anchorOf = async (token: string) =>
  TrustAnchor.parse((await call('/api/v1/evidence/trust-anchor', { token })).json());

async function exported(token: string, asked: object) {
  const anchor = await anchorOf(token);
  const answer = await call(PACKAGES, { token, body: asked });
  expect(answer.statusCode, answer.body).toBe(202);
  anchors.set(answer.json().id, anchor);
  return finished(token, answer.json().id);
}

const finished = (token: string, id: string) =>
  vi.waitFor(
    async () => {
      const { status, ...rest } = (await call(`${PACKAGES}/${id}`, { token })).json();
      if (status === 'queued' || status === 'running') throw new Error('it is being made');
      return { status, ...rest };
    },
    { timeout: 40_000, interval: 100 },
  );

async function unpack(archive: Buffer): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  const limits = { packedBytes: 1e8, unpackedBytes: 1e8, ratio: 1_000 };
  const tar = gunzip(Readable.from([archive]), limits);
  for await (const { name, content } of readUstar(tar)) {
    const pieces: Buffer[] = [];
    for await (const piece of content) pieces.push(piece);
    members.set(name, Buffer.concat(pieces));
  }
  return members;
}

/** With an anchor that its reader had before, every check passes. */
async function verified(archive: Buffer, anchor: TrustAnchor | undefined): Promise<void> {
  const trust = { anchor: anchor ?? expect.unreachable(), issuers: [] };
  const report = await runChecks(Readable.from([archive]), trust, VOLUME_LIMITS);
  expect(report.checks.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(report).toMatchObject({ verdict: 'VERIFIED', independence: 'independent' });
}

/** Downloads a volume and reads what every volume has; files and signature must be valid. */
async function opened(token: string, id: string, number = 1) {
  const answer = await call(`${PACKAGES}/${id}/download?volume=${number}`, { token });
  expect(answer.statusCode).toBe(200);
  await verified(answer.rawPayload, anchors.get(id));
  const members = await unpack(answer.rawPayload);
  const text = (name: string) => members.get(name)?.toString() ?? '';
  const lines = (name: string) => text(name).split('\n').slice(0, -1);
  const envelope = DsseEnvelope.parse(JSON.parse(text('manifest.dsse.json')));
  const payload = payloadOf(envelope);
  const manifest = EvidenceManifest.parse(JSON.parse(payload.toString()));
  const keys = EvidenceKeys.parse(JSON.parse(text('keys.json')));
  const jwkOf = (kid: string) => keys.keys.find((key) => key.kid === kid)?.jwk;
  expect(verifyEnvelope(envelope, jwkOf)).toHaveLength(1);
  expect(manifest.files).toEqual(
    [...members].slice(1).map(([name, bytes]) => ({
      ...{ name, size: bytes.length },
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })),
  );
  const note = parseCheckpoint(text(`checkpoints/${manifest.log.end}.note`));
  const checkpointKey = keys.keys.find(({ purpose }) => purpose === 'checkpoint');
  expect(isCheckpointSignedBy(note, checkpointKey?.jwk ?? expect.unreachable())).toBe(true);
  return {
    ...{ manifest, keys, members, digest: manifestDigest(payload), root: note.checkpoint.root },
    proofs: EvidenceProofs.parse(JSON.parse(text('proofs.json'))),
    batches: lines('batches.ndjson').map((line) => BatchLine.parse(JSON.parse(line))),
    events: lines('events.ndjson'),
    eventProofs: lines('event-proofs.ndjson').map((line) => EventProofLine.parse(JSON.parse(line))),
    bundles: lines('bundles.ndjson').map((line) => BundleLine.parse(JSON.parse(line))),
  };
}

// Each test has a tenant of its own: what they export is waited for at a time.
describe.concurrent('a contiguous package', () => {
  it('is verified although its records compress to almost nothing', async () => {
    const admin = await aTenantAdmin();
    const one = await aPlane(admin);
    for (let i = 0; i < 5; i++) {
      one.writer.appendRaw(() => Buffer.alloc(512 * 1024, 'x'));
      await one.ship();
    }
    const made = await exported(admin.token, LAST_HOUR);
    expect(made).toMatchObject({ status: 'ready', failure: null });
    const { events } = await opened(admin.token, made.id);
    expect(events.filter((line) => line.includes('unread_record'))).toHaveLength(5);
  });

  it('holds every leaf of its range, whole, up to a signed checkpoint', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const one = await aPlane(admin);
    for (let i = 0; i < 3; i++) {
      one.decide();
      await one.ship();
    }
    // Cut differently: the batch begins with records that an earlier one has, too.
    one.decide();
    await one.ship(2);
    // An unreadable record keeps its place.
    one.writer.appendRaw(() => Buffer.from([0xff, 0x00]));
    one.decide();
    await one.ship();
    // An anchor of an empty log needs no proof.
    await vi.waitFor(async () => {
      const grown = await call('/api/v1/evidence/checkpoints', { token });
      expect(grown.json().total).toBeGreaterThan(0);
    }, 20_000);
    const anchor = await anchorOf(token);

    const made = await exported(token, LAST_HOUR);
    expect(made).toMatchObject({ status: 'ready', failure: null, progress: { volumes_total: 1 } });
    const { manifest, proofs, batches, events, root, keys } = await opened(token, made.id);
    expect(manifest.log.start).toBe(0);
    expect(batches.map(({ leaf_index }) => leaf_index)).toEqual(
      Array.from({ length: manifest.log.end }, (_, n) => n),
    );
    const tree = createMerkleTree(proofs.range?.start, proofs.range?.frontier);
    for (const { header, signature } of batches) tree.add(batchLeafHash({ header, signature }));
    expect(tree.root()).toBe(root);
    expect(events.length).toBe(
      batches.reduce((sum, { header }) => sum + header.last_seq - header.first_seq + 1, 0),
    );
    const hashes = events.map((line) => {
      const value = JSON.parse(line);
      return recordHash(
        value.unread_record ? Buffer.from(value.unread_record, 'base64') : Buffer.from(line),
      );
    });
    let at = 0;
    for (const { header } of batches) {
      at += header.last_seq - header.first_seq + 1;
      expect(hashes[at - 1]).toBe(header.head);
    }
    const own = manifest.streams.find(({ stream }) => stream === one.deploymentId);
    expect(own?.records).toBe(one.writer.records.length);
    expect(own?.last.hash).toBe(one.writer.head.head);
    expect(keys.writers.map(({ statement }) => statement.stream)).toEqual([one.deploymentId]);
    const proof = proofs.consistency.find(
      ({ from, to }) => from === anchor.log.size || to === anchor.log.size,
    );
    const isEarlier = proof?.to === manifest.log.end;
    const { from, to, path } = proof ?? expect.unreachable();
    const [fromRoot, toRoot] = isEarlier ? [anchor.log.root, root] : [root, anchor.log.root];
    expect(isConsistent({ from, to, fromRoot, toRoot, path })).toBe(true);
  });

  it('that begins later names the record before, and the frontier of the leaves before', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const one = await aPlane(admin);
    const at = (ms: number) => new Date(time - 60_000 + ms).toISOString();
    one.decide({ timestamp: '2026-01-01T00:00:00.000Z' });
    const before = one.writer.records.at(-1);
    await one.ship();
    await finished(token, (await exported(token, LAST_HOUR)).id);
    one.decide({ timestamp: at(1) });
    await one.ship();
    const made = await exported(token, { from: at(0), to: LAST_HOUR.to });
    const { manifest, proofs, batches, root } = await opened(token, made.id);
    // The administrator's registration and requests fall into this hour, too, and come first.
    expect(manifest.log.start).toBeGreaterThanOrEqual(0);
    const tree = createMerkleTree(proofs.range?.start, proofs.range?.frontier);
    for (const { header, signature } of batches) tree.add(batchLeafHash({ header, signature }));
    expect(tree.root()).toBe(root);
    const first = manifest.streams.find(({ stream }) => stream === one.deploymentId)?.first;
    const boundary = proofs.boundaries.find(({ stream }) => stream === one.deploymentId);
    if (first && first.seq > 1) {
      expect(recordHash(Buffer.from(boundary?.record ?? ''))).toBe(first.prev_hash);
      expect(first.prev_hash).toBe(before?.hash);
    } else expect(boundary).toBeUndefined();
  });

  it('fails with a reason where nothing was recorded', async () => {
    const { token } = await aTenantAdmin();
    const asked = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    const made = await exported(token, asked);
    expect(made).toMatchObject({
      status: 'failed',
      failure: 'nothing was recorded in that time',
      volumes: [],
    });
    const answer = await call(`${PACKAGES}/${made.id}/download`, { token });
    expect(answer.statusCode).toBe(409);
  });

  it('shows what a record names that an earlier version could not read, and kept aside', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const one = await aPlane(admin);
    const { id } = one.decide();
    await one.ship();
    const { rowCount } = await test.superuser.query(
      `UPDATE ledger_records SET type = 'quarantined' WHERE tenant_id = $1 AND id = $2`,
      [admin.scope.tenantId, id],
    );
    expect(rowCount).toBe(1);
    const made = await exported(token, LAST_HOUR);
    const { bundles, events } = await opened(token, made.id);
    expect(events.join()).toContain(id);
    expect(bundles).toMatchObject([{ revision: one.revision }]);
  });
});

describe.concurrent('a selective package', () => {
  it('holds the agent’s decisions and what belongs to them, each with its proofs', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = { name: 'a', agent_type: 't', owner: 'o', description: '' };
    const agent = (await call('/api/v1/agents', { token, body })).json().id as string;
    const one = await aPlane(admin);
    const wanted: string[] = [];
    for (let i = 0; i < 7; i++) {
      one.decide();
      wanted.push(one.decide({ agent_id: agent }).id);
      if (i % 3 === 1) await one.ship();
    }
    await one.ship();
    const made = await exported(token, { ...LAST_HOUR, agent_ids: [agent] });
    expect(made).toMatchObject({ status: 'ready', scope: { kind: 'selective' } });
    const { manifest, proofs, batches, events, eventProofs, root, bundles } = await opened(
      token,
      made.id,
    );
    expect(events.map((line) => JSON.parse(line).id)).toEqual(wanted);
    expect(manifest.scope).toMatchObject({ kind: 'selective', filter: { agent_ids: [agent] } });
    expect(bundles.map((bundle) => bundle.revision)).toEqual([one.revision]);
    expect(JSON.parse(bundles[0]?.manifest ?? '').revision).toBe(String(one.revision));
    for (const [n, { leaf_index, index, path }] of eventProofs.entries()) {
      const batch = batches.find((one) => one.leaf_index === leaf_index) ?? expect.unreachable();
      const size = batch.header.last_seq - batch.header.first_seq + 1;
      const leaf = recordHash(Buffer.from(events[n] ?? ''));
      expect(rootOfInclusion({ leaf, index, size, path })).toBe(batch.header.event_root);
      const proof = proofs.leaves.find((one) => one.leaf_index === leaf_index);
      const place = { index: leaf_index, size: manifest.log.end, path: proof?.path ?? [] };
      expect(rootOfInclusion({ leaf: batchLeafHash(batch), ...place })).toBe(root);
    }
    expect(eventProofs).toHaveLength(events.length);
  });

  it('holds the approval that a call went with, which is no record of the agent', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = { name: 'a', agent_type: 't', owner: 'o', description: '' };
    const agent = (await call('/api/v1/agents', { token, body })).json().id as string;
    const one = await aPlane(admin);
    const escalation = uuidv7();
    const asked = { agent_id: agent, tool_name: 'delete_thing', escalation_id: escalation };
    const held = one.decide({ ...asked, policy_result: 'escalate' });
    one.writer.append(aHoldOpened(held, { escalation_id: escalation }));
    await one.ship();
    const approved = await call(`/api/v1/escalations/${escalation}/approve`, { token, body: {} });
    expect(approved.statusCode, approved.body).toBe(200);
    const { rows } = await test.superuser.query<{ grant_id: string }>(
      'SELECT grant_id FROM escalations WHERE id = $1',
      [escalation],
    );
    const grant = rows[0]?.grant_id ?? expect.unreachable();
    one.decide({ ...asked, grant_id: grant, instruction_hash: held.instruction_hash });
    await one.ship();
    const made = await exported(token, { ...LAST_HOUR, agent_ids: [agent] });
    const { members } = await opened(token, made.id);
    const [cause] = (members.get('causes.ndjson')?.toString() ?? '').split('\n');
    expect(JSON.parse(JSON.parse(cause ?? '').record)).toMatchObject({
      action: 'escalation_approved',
      target: `escalation/${escalation}`,
    });
    // Since everything that was recorded is included, it is among the records.
    const all = await exported(token, LAST_HOUR);
    expect((await opened(token, all.id)).members.has('causes.ndjson')).toBe(false);
  });
});

describe.concurrent('a download', () => {
  it('can be resumed, by ranges that make up the file of the digest', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    await aPlane(admin);
    const made = await exported(token, LAST_HOUR);
    const [volume] = made.volumes;
    const get = (headers: Record<string, string>) => call(volume.download, { token, headers });
    const whole = await get({});
    expect(whole.headers.etag).toBe(`"${volume.sha256}"`);
    expect(whole.rawPayload.length).toBe(volume.size);
    expect(createHash('sha256').update(whole.rawPayload).digest('hex')).toBe(volume.sha256);
    const head = await get({ range: 'bytes=0-99' });
    const rest = await get({ range: 'bytes=100-', 'if-range': `"${volume.sha256}"` });
    expect([head.statusCode, rest.statusCode]).toEqual([206, 206]);
    expect(rest.headers['content-range']).toBe(`bytes 100-${volume.size - 1}/${volume.size}`);
    expect(Buffer.concat([head.rawPayload, rest.rawPayload])).toEqual(whole.rawPayload);
    const last = await get({ range: 'bytes=-10' });
    expect(last.rawPayload).toEqual(whole.rawPayload.subarray(-10));
    expect((await get({ range: 'bytes=0-9', 'if-range': '"other"' })).statusCode).toBe(200);
    expect((await get({ range: `bytes=${volume.size}-` })).statusCode).toBe(416);
    expect((await get({ range: 'lines=1-2' })).statusCode).toBe(200);
    expect((await get({ 'if-none-match': `"${volume.sha256}"` })).statusCode).toBe(304);
    expect((await call(`${PACKAGES}/${made.id}/download?volume=2`, { token })).statusCode).toBe(
      404,
    );
    const { rows } = await test.superuser.query(
      `SELECT convert_from(bytes, 'UTF8')::jsonb->>'action' AS action FROM ledger_records
       WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY position`,
      [admin.scope.tenantId],
    );
    const actions = rows.map(({ action }) => action);
    expect(actions).toContain('evidence_requested');
    expect(actions).toContain('evidence_exported');
    expect(actions.filter((action) => action === 'evidence_downloaded').length).toBe(6);
  });
});

describe('packages', () => {
  it('are made one at a time, and end with their deletion or when they expire', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const [first, second] = await Promise.all(
      [1, 2].map(() => call(PACKAGES, { token, body: LAST_HOUR })),
    );
    expect([first?.statusCode, second?.statusCode].sort()).toEqual([202, 409]);
    const { id } = (first?.statusCode === 202 ? first : second)?.json() ?? {};
    await finished(token, id);
    expect((await call(PACKAGES, { token })).json()).toMatchObject({ total: 1 });
    expect((await call(`${PACKAGES}/${id}`, { token, method: 'DELETE' })).statusCode).toBe(204);
    expect((await call(`${PACKAGES}/${id}`, { token })).statusCode).toBe(404);

    const kept = await exported(token, LAST_HOUR);
    await test.superuser.query(
      `UPDATE evidence_packages SET expires_at = now() - interval '1 hour' WHERE id = $1`,
      [kept.id],
    );
    await vi.waitFor(
      async () => {
        const { statusCode } = await call(`${PACKAGES}/${kept.id}`, { token });
        if (statusCode !== 404) throw new Error('it is still there');
      },
      { timeout: 20_000, interval: 100 },
    );
    const { rows } = await test.superuser.query(
      'SELECT 1 FROM evidence_chunks WHERE package_id = ANY($1)',
      [[id, kept.id]],
    );
    expect(rows).toEqual([]);
  });

  it('are an auditor’s to ask for, with payloads an administrator’s alone', async () => {
    const admin = await aTenantAdmin();
    const auditor = await aColleague(admin.scope, 'auditor');
    const withPayloads = { ...LAST_HOUR, include_payloads: true };
    const refused = await call(PACKAGES, { token: auditor.token, body: withPayloads });
    expect(refused.statusCode).toBe(403);
    const made = await exported(auditor.token, LAST_HOUR);
    expect(made.status).toBe('ready');
    const own = await exported(admin.token, withPayloads);
    expect(own.status).toBe('ready');
    for (const url of [`${PACKAGES}/${own.id}`, own.volumes[0].download]) {
      expect((await call(url, { token: auditor.token })).statusCode).toBe(403);
      expect((await call(url, { token: admin.token })).statusCode).toBe(200);
    }
    // They are encrypted at rest: a gzip would begin with 1f 8b.
    const { rows } = await test.superuser.query<{ bytes: Buffer }>(
      'SELECT bytes FROM evidence_chunks WHERE package_id = $1 AND n = 0',
      [own.id],
    );
    expect(rows[0]?.bytes.subarray(0, 2).toString('hex')).not.toBe('1f8b');
  });

  it('whose maker has died are taken up where they were', async () => {
    const admin = await aTenantAdmin();
    const { token, scope } = admin;
    await aPlane(admin);
    const id = uuidv7();
    await test.superuser.query(
      `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at, from_time,
         to_time, include_payloads, attempts, alive_at, expires_at)
       VALUES ($1, $2, 'running', 'somebody', now(), $3, $4, false, 1, now() - interval '1 hour',
         now() + interval '1 day')`,
      [scope.tenantId, id, LAST_HOUR.from, LAST_HOUR.to],
    );
    expect((await finished(token, id)).status).toBe('ready');
    // Also one who died while the clock was ahead.
    await test.superuser.query(
      `UPDATE evidence_packages SET status = 'running', attempts = 1,
         alive_at = now() + interval '1 day' WHERE id = $1`,
      [id],
    );
    expect((await finished(token, id)).status).toBe('ready');
    // A run that kills its process each time is given up.
    await test.superuser.query(
      `UPDATE evidence_packages SET status = 'running', attempts = 3,
         alive_at = now() - interval '1 hour' WHERE id = $1`,
      [id],
    );
    expect(await finished(token, id)).toMatchObject({
      status: 'failed',
      failure: 'it failed too often',
    });
  });

  it('go on with the plan of the run before, in volumes that verify alone and name each other', async () => {
    const admin = await aTenantAdmin();
    const { token, scope } = admin;
    const one = await aPlane(admin);
    for (let i = 0; i < 4; i++) {
      one.decide();
      await one.ship();
    }
    const whole = await exported(token, LAST_HOUR);
    const { end } = (await opened(token, whole.id)).manifest.log;
    const id = uuidv7();
    const plan = { log_epoch: 1, size: end, start: 0, ends: [1, end], data_key_id: null };
    await test.superuser.query(
      `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at, from_time,
         to_time, include_payloads, attempts, alive_at, expires_at, plan)
       VALUES ($1, $2, 'running', 'somebody', now(), $3, $4, false, 1, now() - interval '1 hour',
         now() + interval '1 day', $5)`,
      [scope.tenantId, id, LAST_HOUR.from, LAST_HOUR.to, plan],
    );
    anchors.set(id, await anchorOf(token));
    const made = await finished(token, id);
    expect(made).toMatchObject({
      status: 'ready',
      progress: { volumes_done: 2, volumes_total: 2 },
    });
    const first = await opened(token, id, 1);
    const second = await opened(token, id, 2);
    expect(first.manifest.volume).toEqual({ number: 1, of: 2, previous: null });
    expect(second.manifest.volume).toEqual({ number: 2, of: 2, previous: first.digest });
    expect(second.manifest.log).toMatchObject({ start: 1, end });
    expect(second.proofs.boundaries.length).toBeGreaterThan(0);
    expect(new Set([first.manifest.set_id, second.manifest.set_id])).toEqual(new Set([id]));
  });

  it('that were begun in a log epoch do not go on in the next one', async () => {
    const admin = await aTenantAdmin();
    const { token, scope } = admin;
    const one = await aPlane(admin);
    one.decide();
    await one.ship();
    const { id } = await exported(token, LAST_HOUR);
    const key = await plane.controlPlane.serviceKeys.evidenceKey('checkpoint');
    await test.db.inTenant(scope, (tx) => beginLogEpoch(tx, key, new Date(time)));
    const { rowCount } = await test.superuser.query(
      `UPDATE evidence_packages SET status = 'queued', attempts = 0 WHERE tenant_id = $1`,
      [scope.tenantId],
    );
    expect(rowCount).toBe(1);
    await test.superuser.query('DELETE FROM evidence_chunks WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    await test.superuser.query('DELETE FROM evidence_volumes WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    const made = await finished(token, id);
    expect(made).toMatchObject({ status: 'failed' });
    expect(made.failure).toMatch(/a restore was announced meanwhile: ask for it again/);
    const again = await exported(token, LAST_HOUR);
    expect((await opened(token, again.id)).manifest.log.epoch).toBe(2);
  });

  it.each([
    [{}],
    [{ ...LAST_HOUR, to: LAST_HOUR.from }],
    [{ ...LAST_HOUR, agent_ids: [] }],
    [{ ...LAST_HOUR, agent_ids: ['x'] }],
    [{ ...LAST_HOUR, anchor_sizes: [0] }],
    [{ ...LAST_HOUR, more: 1 }],
  ])('are refused for %j', async (body) => {
    const { token } = await aTenantAdmin();
    expect((await call(PACKAGES, { token, body })).statusCode).toBe(422);
  });
});
