import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logOrigin } from '@governance/shared/evidence/checkpoint';
import { checkKeptLog, KeptLog } from '@governance/shared/evidence/kept-log';
import { TRUST_ANCHOR_FORMAT, type TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  LOG_WATCH_FILE,
  type LogWatchStore,
  openLogWatchStore,
} from '../sync/watch/log-watch-store.ts';
import { startLogWatcher } from '../sync/watch/log-watcher.ts';
import { until } from '../testing/test-control-plane.ts';
import { createTestLog, type TestLog } from '../testing/test-log.ts';
import { runCommand } from './commands.ts';

const TENANT = '0190aaaa-0000-7000-8000-000000000001';
const OTHER = '0190aaaa-0000-7000-8000-000000000003';
const PLANE = '0190aaaa-0000-7000-8000-000000000002';

let dataDir: string;
let store: LogWatchStore;
let log: TestLog;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'kept-log-'));
  store = openLogWatchStore(join(dataDir, LOG_WATCH_FILE));
  log = createTestLog(TENANT);
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** One observation by a data plane. */
async function look(given = log, tenantId = TENANT): Promise<void> {
  let looks = 0;
  startLogWatcher({
    ...{ tenantId, deploymentId: PLANE, store },
    link: {
      readLog: async (held) => {
        looks++;
        return looks > 1 ? new Promise(() => undefined) : given.read(held);
      },
    },
    onContradicted: () => undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: () => Date.UTC(2026, 4, 4),
    everyMs: 1,
    firstMs: 1,
  });
  await until(() => looks > 1);
}

const anchorOf = (place = log.place(), tenantId = TENANT): TrustAnchor => ({
  format: TRUST_ANCHOR_FORMAT,
  issuer: 'https://governance.example',
  tenant_id: tenantId,
  issued_at: '2026-05-04T12:00:00.000Z',
  keys: [...log.keys],
  log: { origin: logOrigin(tenantId, place.epoch), ...place },
  spec_url: 'https://verify.example/',
});

async function run(...args: string[]) {
  const [lines, errors]: string[][] = [[], []];
  const out = {
    log: (text: string) => lines?.push(text),
    error: (text: string) => errors?.push(text),
  };
  const code = await runCommand(args, { SERVICE_DATA_DIR: dataDir }, out);
  return { code, text: lines?.join('\n') ?? '', error: errors?.join('\n') ?? '' };
}

async function exported(): Promise<KeptLog> {
  const { code, text, error } = await run('log-watch');
  expect(code, error).toBe(0);
  return KeptLog.parse(JSON.parse(text));
}

describe('what a data plane kept', () => {
  it('is exported while the service runs, and verifies against an anchor', async () => {
    log.grow(3);
    const early = anchorOf();
    await look();
    log.grow(5);
    log.rotate();
    await look();
    const kept = await exported();
    expect(kept).toMatchObject({ tenant_id: TENANT, deployment_id: PLANE, contradictions: [] });
    expect(kept.notice).toContain('no independent witness');
    const highest = log.place();
    for (const anchor of [early, anchorOf()]) {
      expect(checkKeptLog(kept, anchor)).toMatchObject({
        ...{ verdict: 'CONSISTENT', checkpoints: 2, highest },
        ...{ proven: [], open: [], faults: [] },
      });
    }
    expect(checkKeptLog(kept, null).verdict).toBe('UNDECIDED');
  });

  it('contradicts an anchor of a rewritten log', async () => {
    log.grow(8);
    await look();
    const kept = await exported();
    log.cut(2);
    log.grow(6, 'b');
    const result = checkKeptLog(kept, anchorOf());
    expect(result.verdict).toBe('CONTRADICTED');
    expect(result.proven[0]).toContain('8 leaves');
  });

  it('proves one size with two roots by signatures alone', async () => {
    log.grow(8);
    const early = anchorOf({ ...log.place(), size: 0, root: 'a'.repeat(64) });
    await look();
    log.cut(2);
    log.grow(6, 'b');
    await look();
    expect(checkKeptLog(await exported(), early)).toMatchObject({
      ...{ verdict: 'CONTRADICTED', faults: [] },
      proven: [expect.stringContaining('and root')],
    });
  });

  it('leaves to its operator what a proof could still explain', async () => {
    log.grow(8);
    const early = anchorOf();
    await look();
    log.cut(3);
    await look();
    expect(checkKeptLog(await exported(), early)).toMatchObject({
      ...{ verdict: 'UNDECIDED', proven: [], faults: [] },
      open: [expect.stringMatching(/went_back.*8 leaves.*3 leaves/)],
    });
  });

  it('shows what an announced restore lost', async () => {
    log.grow(8);
    const early = anchorOf();
    await look();
    log.cut(3);
    log.announce();
    log.grow(2, 'b');
    await look();
    expect(checkKeptLog(await exported(), early)).toMatchObject({
      verdict: 'CONTRADICTED',
      proven: [expect.stringContaining('as announced')],
    });
  });

  it('proves nothing that somebody else signed, or that is of another tenant', async () => {
    log.grow(8);
    await look();
    const kept = await exported();
    const stranger = createTestLog(TENANT);
    stranger.grow(8, 'b');
    const { note } = await stranger.read({ epoch: 1, size: 0 });
    const [first] = kept.checkpoints;
    if (!first || note === null) throw new Error('nothing is kept');
    const forged = { ...kept, checkpoints: [{ ...first, note }] };
    expect(checkKeptLog(forged, anchorOf()).verdict).toBe('NOT_VERIFIED');
    expect(checkKeptLog(kept, anchorOf(log.place(), OTHER)).verdict).toBe('NOT_VERIFIED');
    expect(checkKeptLog({ ...kept, tenant_id: OTHER }, anchorOf()).verdict).toBe('NOT_VERIFIED');
  });

  it('is asked for by its tenant where several are served', async () => {
    log.grow(1);
    await look();
    const other = createTestLog(OTHER);
    other.grow(1);
    await look(other, OTHER);
    expect(await run('log-watch')).toMatchObject({
      code: 1,
      error: expect.stringContaining(OTHER),
    });
    for (const id of [OTHER, OTHER.toUpperCase()]) {
      const named = await run('log-watch', '--tenant', id);
      expect(JSON.parse(named.text)).toMatchObject({ tenant_id: OTHER });
    }
    expect((await run('log-watch', '--tenant', PLANE)).code).toBe(1);
    expect((await run('log-watch', '--tenant', 'x')).code).toBe(2);
  });

  it('is empty before the first observation', async () => {
    expect(await run('log-watch')).toMatchObject({
      code: 1,
      error: expect.stringContaining('yet'),
    });
  });
});
