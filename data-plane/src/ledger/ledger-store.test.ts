import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { isBatchSignedBy } from '@governance/shared/ledger/audit-batch';
import { type ChainPosition, GENESIS_HASH, verifyLink } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDurableDatabase, sqliteCode } from '../storage/durable-database.ts';
import {
  createLedgerStore,
  type LedgerStore,
  readStoredRecords,
} from '../testing/test-ledger-store.ts';
import { aDecision, anAlert, anAnswerStarted, anOutcome } from '../testing/test-records.ts';
import { LedgerDamagedError } from './ledger-error.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
const stream = uuidv7();
const timestamp = '2026-01-02T03:04:05.000Z';
let folder: string;
let path: string;
let store: LedgerStore | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'data-plane.db');
  store = null;
});

afterEach(() => {
  store?.close();
  rmSync(folder, { recursive: true });
});

function boot(of = stream) {
  store?.close();
  store = createLedgerStore({ path, signingKey, limitBytes: null });
  const opened = store.openStream({ tenantId, stream: of, writerVersion: '1.0.0', timestamp });
  return { store, ...opened };
}

/** All records of all streams on disk, with a verifier's result for each stream. */
function readDisk() {
  store?.close();
  store = null;
  const rows = readStoredRecords(path);
  const heads = new Map<number, ChainPosition>();
  const breaks: unknown[] = [];
  const records = rows.map((row) => {
    const record = parseRecord(row.bytes);
    const previous = record.type === 'epoch_start' ? record.previous : undefined;
    const link = { ...record, previous, bytes: row.bytes };
    const { after, broken } = verifyLink(
      heads.get(row.stream_no) ?? null,
      link,
      row.hash ?? undefined,
    );
    heads.set(row.stream_no, after);
    if (broken) breaks.push(broken);
    return record;
  });
  return { records, breaks };
}

describe('the ledger file', () => {
  it('is opened in WAL with synchronous=FULL, also when it exists already', () => {
    for (let i = 0; i < 2; i++) {
      const db = openDurableDatabase(path, { exclusive: true });
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      db.close();
    }
  });

  it('is readable by its owner alone, with the files beside it', () => {
    boot();
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('cannot be opened by a second writer', () => {
    boot();
    expect(() => openDurableDatabase(path, { exclusive: true, busyTimeoutMs: 10 })).toThrow(
      expect.objectContaining({ code: 'SQLITE_BUSY' }),
    );
  });

  it('is not opened when a newer version wrote it', () => {
    boot().store.close();
    store = null;
    const db = new Database(path);
    db.pragma('user_version = 99');
    db.close();
    expect(() => createLedgerStore({ path, signingKey, limitBytes: null })).toThrow(
      'newer version',
    );
  });
});

describe('a stream', () => {
  it('starts an epoch at each boot that names the end of the one before', () => {
    const first = boot();
    first.store.commitGroup([{ streamNo: first.streamNo, record: aDecision(), salt: null }]);
    expect(first.epoch).toBe(1);
    expect(boot().epoch).toBe(2);
    expect(boot().epoch).toBe(3);
    const { records, breaks } = readDisk();
    expect(breaks).toEqual([]);
    const starts = records.filter((record) => record.type === 'epoch_start');
    expect(starts).toMatchObject([
      { epoch: 1, previous: null, reason: 'created', prev_hash: GENESIS_HASH },
      { epoch: 2, previous: { epoch: 1, last_seq: 2 }, reason: 'boot' },
      // The decision of epoch 1 had no outcome: epoch 2 records that too.
      { epoch: 3, previous: { epoch: 2, last_seq: 2 }, reason: 'boot' },
    ]);
  });

  it('is opened once in a process, however often it is requested', () => {
    const first = boot();
    const again = first.store.openStream({ tenantId, stream, writerVersion: '2', timestamp });
    expect(again).toEqual({
      streamNo: first.streamNo,
      epoch: 1,
      outcomesUnknown: 0,
      backlog: 1,
    });
    expect(readDisk().records).toHaveLength(1);
  });

  it('records outcome_unknown for exactly the allowed calls that were in progress', () => {
    const { store: writer, streamNo } = boot();
    const decisions = ['allow', 'allow', 'deny', 'escalate', 'dlp_block', 'allow'] as const;
    const made = decisions.map((policy_result, i) => aDecision({ policy_result, id: uuidv7(i) }));
    writer.commitGroup(made.map((record) => ({ streamNo, record, salt: null })));
    const [answered, open, , , , openToo] = made;
    const outcome = anOutcome(answered?.id ?? '');
    writer.commitGroup([{ streamNo, record: outcome, salt: null }]);
    // A model that had begun to answer ends nothing.
    const started = anAnswerStarted(openToo?.id ?? '');
    writer.commitGroup([{ streamNo, record: started, salt: null }]);
    expect(boot().outcomesUnknown).toBe(2);
    expect(boot().outcomesUnknown).toBe(0);
    const unknown = readDisk().records.filter(
      (record) => record.type === 'outcome' && record.outcome === 'outcome_unknown',
    );
    expect(unknown).toMatchObject([
      { event_id: open?.id, epoch: 2, latency_ms: null },
      { event_id: openToo?.id, epoch: 2 },
    ]);
  });

  it('refuses to continue from a damaged end', () => {
    const { store: writer, streamNo } = boot();
    writer.commitGroup([{ streamNo, record: aDecision(), salt: null }]);
    writer.close();
    store = null;
    const db = new Database(path);
    db.exec(`UPDATE records SET bytes = CAST(replace(bytes, 'read_file', 'rm_file_x') AS BLOB)`);
    db.close();
    const reopened = createLedgerStore({ path, signingKey, limitBytes: null });
    store = reopened;
    const open = () => reopened.openStream({ tenantId, stream, writerVersion: '1.0.0', timestamp });
    expect(open).toThrow(LedgerDamagedError);
  });
});

describe('a group', () => {
  it('keeps a poison record out and the others in', () => {
    const { store: writer, streamNo } = boot();
    const decision = aDecision();
    const poison: unknown[] = [
      { ...decision, target: 7 },
      { ...decision, latency_ms: null },
      { ...decision, extra: 1 },
      { ...decision, id: 'no-uuid' },
      { ...decision, timestamp: '1969-12-31T23:59:59.999Z' },
      { ...decision, dlp_findings: [{ severity: 'unknown' }] },
      { ...decision, policy_reason: 'x'.repeat(300_000) },
      { ...anAlert(), type: 'epoch_start' },
      { type: 'admin_action' },
      null,
      'text',
      [],
    ];
    const items = poison.flatMap((record) => [
      { streamNo, record: anAlert(), salt: null },
      { streamNo, record, salt: null },
    ]);
    const results = writer.commitGroup([
      ...items,
      { streamNo, record: decision, salt: Buffer.of(1) },
    ]);
    expect(results.map((result) => result.ok)).toEqual([
      ...poison.flatMap(() => [true, false]),
      true,
    ]);
    const { records, breaks } = readDisk();
    expect(breaks).toEqual([]);
    expect(records).toHaveLength(1 + poison.length + 1);
  });

  it('keeps the salts of its records beside the chain, where one can be purged', () => {
    const { store: writer, streamNo } = boot();
    const salts = [Buffer.of(7, 7), null, Buffer.alloc(255, 7)];
    writer.commitGroup(salts.map((salt) => ({ streamNo, record: aDecision(), salt })));
    writer.commitGroup([{ streamNo, record: anAlert(), salt: null }]);
    writer.close();
    store = null;
    const db = new Database(path);
    const rows = db
      .prepare<[], { salts: Buffer | null; at: number }>(
        `SELECT salts, instr(bytes, x'07') AS at FROM records ORDER BY position`,
      )
      .all();
    expect(rows.map(({ at }) => at)).toEqual([0, 0, 0]);
    const packed = [Buffer.of(2, 7, 7), Buffer.of(0), Buffer.of(255), Buffer.alloc(255, 7)];
    expect(rows.map((row) => row.salts)).toEqual([null, Buffer.concat(packed), null]);
    db.prepare('UPDATE records SET salts = zeroblob(length(salts))').run();
    db.close();
    expect(boot().epoch).toBe(2);
    expect(readDisk().breaks).toEqual([]);
  });

  it('has no effect when its commit fails, and the next one follows what is stored', () => {
    const { store: writer, streamNo } = boot();
    const good = { streamNo, record: anAlert(), salt: null };
    writer.commitGroup([good]);
    expect(() => writer.commitGroup([good, { ...good, streamNo: 99 }])).toThrow('not open');
    expect(writer.commitGroup([good])).toMatchObject([{ ok: true, seq: 3 }]);
    expect(readDisk()).toMatchObject({ breaks: [], records: { length: 3 } });
  });
});

describe('batches', () => {
  it('are signed, consecutive and of one epoch, and continue behind what was shipped', () => {
    const first = boot();
    const append = (to: ReturnType<typeof boot>, count: number) =>
      to.store.commitGroup(
        Array.from({ length: count }, () => ({
          streamNo: to.streamNo,
          record: anAlert(),
          salt: null,
        })),
      );
    append(first, 6);
    const second = boot();
    append(second, 2);
    const publicKey = createPublicKey(signingKey);
    const shipped: string[] = [];
    let expectedPrevious = GENESIS_HASH;
    for (;;) {
      const batch = second.store.nextBatch(second.streamNo, 4);
      if (!batch) break;
      const { header } = batch;
      shipped.push(`${header.epoch}:${header.first_seq}-${header.last_seq}`);
      expect(isBatchSignedBy(publicKey, header, batch.signature)).toBe(true);
      expect(header.prev_head).toBe(expectedPrevious);
      expect(batch.lengths.reduce((sum, length) => sum + length, 0)).toBe(batch.bytes.length);
      expect(parseRecord(batch.bytes.subarray(0, batch.lengths[0])).seq).toBe(header.first_seq);
      expectedPrevious = header.head;
      const position = { epoch: header.epoch, seq: header.last_seq, head: header.head };
      second.store.commitGroup([{ streamNo: second.streamNo, shipped: position }]);
    }
    expect(shipped).toEqual(['1:1-4', '1:5-7', '2:1-3']);
    const third = boot();
    expect(third.store.nextBatch(third.streamNo, 4)?.header).toMatchObject({
      epoch: 3,
      first_seq: 1,
    });
  });

  it.each([
    ['the middle of a group', "replace(bytes, 'm1', 'm2')"],
    ['the end of a group', "replace(bytes, 'm3', 'm4')"],
  ])('never sign records that differ from what was chained, in %s', (_where, edit) => {
    const { store: writer, streamNo } = boot();
    const titles = Array.from({ length: 80 }, (_, n) => (n === 9 ? 'm1' : n === 19 ? 'm3' : 'x'));
    const records = titles.map((title) => ({ streamNo, record: anAlert({ title }), salt: null }));
    // The records that a start checks lie behind them.
    for (let n = 0; n < 80; n += 20) writer.commitGroup(records.slice(n, n + 20));
    const behind = () => ({ streamNo, record: anAlert(), salt: null });
    writer.commitGroup(Array.from({ length: 80 }, behind));
    const header = writer.nextBatch(streamNo, 500)?.header;
    if (!header) throw new Error('nothing to ship');
    const { epoch, last_seq: seq, head } = header;
    writer.commitGroup([{ streamNo, shipped: { epoch, seq, head } }]);
    writer.close();
    store = null;
    const db = new Database(path);
    expect(db.prepare(`UPDATE records SET bytes = CAST(${edit} AS BLOB)`).run().changes).toBe(6);
    db.close();
    // A start does not check shipped records; then a restored control plane lacks them.
    const reopened = boot();
    reopened.store.rewindShipped(reopened.streamNo, { epoch: 1, seq: 3 });
    for (const limit of [500, 8]) {
      const ship = () => {
        for (;;) {
          const { streamNo: no, store: of } = reopened;
          const signed = of.nextBatch(no, limit)?.header;
          if (!signed) return;
          const position = { epoch: signed.epoch, seq: signed.last_seq, head: signed.head };
          of.commitGroup([{ streamNo: no, shipped: position }]);
        }
      };
      expect(ship).toThrow(LedgerDamagedError);
    }
  });
});

describe('a damaged file', () => {
  it('never ships a record that was not chained, whatever byte was changed', () => {
    const { store: writer, streamNo } = boot();
    for (let group = 0; group < 20; group++) {
      const decisions = Array.from({ length: 5 }, () => aDecision());
      writer.commitGroup(decisions.map((record) => ({ streamNo, record, salt: null })));
    }
    const { records } = readDisk();
    const originals = new Set(records.map((record) => canonicalize(record)));
    const intact = readFileSync(path);
    const outcomes = { shipped: 0, detected: 0 };
    fc.assert(
      fc.property(fc.nat(intact.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(intact);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
        writeFileSync(path, damaged);
        let reopened: LedgerStore | null = null;
        try {
          reopened = createLedgerStore({ path, signingKey, limitBytes: null });
          const request = { tenantId, stream, writerVersion: '1.0.0', timestamp };
          const opened = reopened.openStream(request);
          const batch = reopened.nextBatch(opened.streamNo, 500);
          let offset = 0;
          for (const length of batch?.lengths ?? []) {
            const text = Buffer.from(batch?.bytes.subarray(offset, offset + length) ?? []);
            offset += length;
            const isNew = JSON.parse(text.toString()).epoch > 1 || opened.epoch === 1;
            expect(isNew || originals.has(text.toString())).toBe(true);
          }
          outcomes.shipped++;
        } catch (error) {
          const detected = error instanceof LedgerDamagedError || sqliteCode(error) !== undefined;
          if (!detected && !String(error).includes('newer version')) throw error;
          outcomes.detected++;
        } finally {
          reopened?.close();
        }
      }),
      { numRuns: 300 },
    );
    expect(outcomes.detected).toBeGreaterThan(50);
  });
});

describe('a model of the ledger', () => {
  // Acknowledged records are stored; each (stream, epoch, seq) exists once; every stream verifies.
  it('holds for any order of groups, streams, poison and boots', () => {
    const streams = [uuidv7(), uuidv7()] as const;
    const record = fc.record({ stream: fc.nat(1), poison: fc.boolean() });
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.array(record, { minLength: 1, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constant('boot' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        for (const file of [path, `${path}-marks`]) rmSync(file, { force: true });
        const acknowledged: string[] = [];
        let writers = streams.map((id) => bootBoth(id));
        for (const now of steps) {
          if (now === 'boot') {
            store?.close();
            store = null;
            writers = streams.map((id) => bootBoth(id));
            continue;
          }
          const given = now.map(({ stream: of, poison }) => {
            const agent_id = poison ? 'no-uuid' : null;
            return { of, record: anAlert({ agent_id }) };
          });
          const items = given.map(({ of, record }) => ({
            streamNo: writers[of]?.streamNo ?? 0,
            record,
            salt: null,
          }));
          const results = store?.commitGroup(items) ?? [];
          for (const [index, result] of results.entries()) {
            expect(result.ok).toBe(!now[index]?.poison);
            const { of, record } = given[index] as (typeof given)[number];
            const { epoch } = writers[of] as (typeof writers)[number];
            if (result.ok) acknowledged.push(`${streams[of]}/${epoch}/${result.seq}/${record.id}`);
          }
        }
        const { records, breaks } = readDisk();
        expect(breaks).toEqual([]);
        const alerts = records.filter((stored) => stored.type === 'alert');
        const stored = alerts.map(
          ({ stream, epoch, seq, id }) => `${stream}/${epoch}/${seq}/${id}`,
        );
        expect(stored.sort()).toEqual(acknowledged.sort());
        const places = records.map(({ stream, epoch, seq }) => `${stream}/${epoch}/${seq}`);
        expect(new Set(places).size).toBe(places.length);
      }),
      { numRuns: 40 },
    );
  });

  function bootBoth(id: string) {
    store ??= createLedgerStore({ path, signingKey, limitBytes: null });
    return store.openStream({ tenantId, stream: id, writerVersion: '1.0.0', timestamp });
  }
});
