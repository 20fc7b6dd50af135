import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TOKEN_KEY_FILE } from '../identity/own-key-rotation.ts';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import { lockLedger } from '../ledger/ledger-lock.ts';
import { PAYLOADS_FOLDER } from '../payloads/payload-spool.ts';
import { runCommand } from './commands.ts';
import { changeLocalSwitch, SWITCH_FILE, watchLocalSwitch } from './local-kill-switch.ts';

const A = uuidv7();
const B = uuidv7();
const DEPLOYMENT = uuidv7();
let dataDir: string;
let appended: { tenantId: string; record: UnchainedRecord }[];
let watching: ReturnType<typeof watchLocalSwitch>[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'governance-switch-'));
  appended = [];
  watching = [];
});
afterEach(async () => {
  await Promise.all(watching.map((one) => one.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

function watch(append?: () => Promise<never>) {
  const one = watchLocalSwitch({
    dataDir,
    ownDir: dataDir,
    ledger: {
      append: async (tenantId, record) => {
        await append?.();
        appended.push({ tenantId, record: UnchainedRecord.parse(record) });
        return { id: record.id, epoch: 1, seq: 1, hash: '' };
      },
    },
    listTenants: () => [A, B],
    findDeploymentId: (tenantId) => (tenantId === A ? DEPLOYMENT : uuidv7()),
    log: { warn: () => {}, error: () => {} },
    pollMs: 20,
  });
  watching.push(one);
  return one;
}
const engage = (tenantId: string | null) =>
  changeLocalSwitch(dataDir, { engaged: true, tenantId, reason: 'a test', operator: 'ops' });
const lift = (tenantId: string | null) =>
  changeLocalSwitch(dataDir, { engaged: false, tenantId, reason: '', operator: 'ops' });
/** What tells the folder of a data plane from others. */
const placeIdentity = (...tenantIds: string[]) => {
  const identity = join(dataDir, 'identity');
  mkdirSync(join(identity, 'registrations'), { recursive: true });
  writeFileSync(join(identity, TOKEN_KEY_FILE), 'a key');
  for (const id of tenantIds) writeFileSync(join(identity, 'registrations', `${id}.json`), '{}');
};
const run = async (...args: string[]) => {
  const output: string[] = [];
  const out = {
    log: (text: string) => output.push(text),
    error: (text: string) => output.push(text),
  };
  return {
    code: await runCommand(args, { SERVICE_DATA_DIR: dataDir }, out),
    output: output.join('\n'),
  };
};

describe('the local kill switch', () => {
  it('is noticed by a running process, and recorded once in each stream', async () => {
    const own = watch();
    expect(own.findDenial(A)).toBeNull();
    engage(null);
    await vi.waitFor(() => expect(own.findDenial(A)).not.toBeNull(), { interval: 5 });
    expect(own.findDenial(B)).toMatchObject({ reason: 'local_kill_switch' });
    lift(null);
    await vi.waitFor(() => expect(own.findDenial(B)).toBeNull(), { interval: 5 });
    await vi.waitFor(() => expect(appended).toHaveLength(4));
    await own.stop();
    // A restart records nothing twice.
    watch();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(
      appended.map(({ tenantId, record }) => [tenantId, 'action' in record && record.action]),
    ).toEqual([
      [A, 'local_kill_switch_engaged'],
      [B, 'local_kill_switch_engaged'],
      [A, 'local_kill_switch_lifted'],
      [B, 'local_kill_switch_lifted'],
    ]);
    expect(appended[0]?.record).toMatchObject({
      actor: { id: DEPLOYMENT, username: 'ops', role: 'data_plane' },
    });
  });

  it('holds for one tenant alone, over a restart, and is not lifted under that for all', () => {
    engage(B);
    const own = watch();
    expect(own.findDenial(A)).toBeNull();
    expect(own.findDenial(B)).not.toBeNull();
    engage(null);
    expect(() => lift(B)).toThrow('without --tenant');
    lift(null);
    expect(watch().findDenial(B)).toBeNull();
  });

  it.each(['', '{', '{"v":2}', 'null'])('counts as engaged when its file is %j', (content) => {
    writeFileSync(join(dataDir, SWITCH_FILE), content);
    const own = watch();
    expect(own.findDenial(A)).not.toBeNull();
    expect(own.status()).toEqual({ engaged: true, unreadable: true, tenants: [] });
    engage(B);
    // An unreadable file counted as engaged for all.
    expect(watch().findDenial(A)).not.toBeNull();
    lift(null);
    expect(watch().findDenial(A)).toBeNull();
  });

  it('holds for a tenant whose id an older version wrote in capitals; engaged wins', () => {
    const { tenants } = engage(A);
    const { tenants: lifted } = lift(A);
    const [engagedA, liftedA] = [tenants[A], lifted[A]];
    for (const written of [
      { [A.toUpperCase()]: engagedA, [A]: liftedA },
      { [A]: liftedA, [A.toUpperCase()]: engagedA },
    ]) {
      const file = { v: 1, all: null, tenants: written };
      writeFileSync(join(dataDir, SWITCH_FILE), JSON.stringify(file));
      expect(watch().findDenial(A)).not.toBeNull();
    }
    lift(A);
    expect(watch().findDenial(A)).toBeNull();
  });

  it('says that nothing was changed where the disk does not take it', () => {
    rmSync(dataDir, { recursive: true });
    expect(() => engage(null)).toThrow(
      /^nothing was changed, since local-kill-switch\.json cannot be written \(.+\): make room/,
    );
  });

  it('counts as engaged when its file disappears under a running process', async () => {
    lift(null);
    const own = watch();
    rmSync(join(dataDir, SWITCH_FILE));
    await vi.waitFor(() => expect(own.findDenial(A)).not.toBeNull());
  });

  it('is recorded later when the ledger cannot take it now', async () => {
    engage(A);
    let fails = 3;
    watch(async () => {
      if (fails-- > 0) throw new Error('full');
      return undefined as never;
    });
    await vi.waitFor(() => expect(appended).toHaveLength(1));
    expect(appended[0]?.tenantId).toBe(A);
  });
});

describe('the command line', () => {
  it('engages, shows and lifts', async () => {
    placeIdentity();
    expect(await run('kill-switch', 'engage')).toMatchObject({ code: 2 });
    expect(await run('kill-switch', 'engage', '--tenant', 'x', '--reason', 'y')).toMatchObject({
      code: 2,
    });
    expect(await run('kill-switch', 'engage', '--reason', 'leak')).toMatchObject({ code: 0 });
    expect((await run('kill-switch', 'status')).output).toMatch(/engaged for all tenants.*leak/);
    expect(await run('kill-switch', 'lift')).toMatchObject({ code: 0 });
    expect((await run('kill-switch', 'status')).output).toBe('not engaged');
    expect(await run('nonsense')).toMatchObject({ code: 2 });
  });

  it('reads the id of a tenant in either case', async () => {
    placeIdentity(A);
    const capitals = ['--tenant', A.toUpperCase()];
    expect(await run('kill-switch', 'engage', ...capitals, '--reason', 'x')).toEqual({
      code: 0,
      output: `the local kill switch is engaged for tenant ${A} of the data plane in ${dataDir}`,
    });
    expect(watch().findDenial(A)).not.toBeNull();
    expect(await run('kill-switch', 'lift', ...capitals)).toMatchObject({ code: 0 });
    expect(watch().findDenial(A)).toBeNull();
  });

  it('says where nobody is stopped', async () => {
    const stop = ['kill-switch', 'engage', '--reason', 'x'];
    const nowhere = { code: 1, output: `${dataDir} holds no data plane: set SERVICE_DATA_DIR` };
    expect(await run(...stop)).toEqual(nowhere);
    expect(await run('kill-switch', 'lift')).toEqual(nowhere);
    expect(existsSync(join(dataDir, SWITCH_FILE))).toBe(false);
    placeIdentity(A);
    expect(await run(...stop, '--tenant', A)).toMatchObject({ code: 0 });
    const { code, output } = await run(...stop, '--tenant', B);
    expect(code).toBe(1);
    expect(output).toContain(`does not serve tenant ${B}`);
    // It may be served later.
    expect(watch().findDenial(B)).not.toBeNull();
    // Lifted also while there are no keys.
    rmSync(join(dataDir, 'identity'), { recursive: true });
    expect(await run('kill-switch', 'lift')).toMatchObject({ code: 0 });
  });

  it.each([
    [['register-anew', '--tenant', A], 'register-anew has no option --tenant'],
    [['rotate-keys', '--tenant', A], 'rotate-keys has no option --tenant'],
    [['kill-switch', 'lift', '--worker', '2'], 'kill-switch lift has no option --worker'],
    [['kill-switch', 'lift', '--tenant', A, '--tenant', B], '--tenant is given more than once'],
    [
      ['kill-switch', 'lift', '--tenants', A],
      "Unknown option '--tenants'; settings are environment",
    ],
    [['--port', '1'], "Unknown option '--port'; settings are environment variables (docs/"],
    [['kill-switch', 'lift', A], 'there is no command'],
    [['kill-switch engage', '--worker', '1'], 'kill-switch engage has no option'],
  ])('does not ignore a part of %j', async (args, why) => {
    placeIdentity(A, B);
    engage(null);
    const { code, output } = await run(...args);
    expect(code).toBe(2);
    expect(output).toContain(why);
    expect(output).toContain('Commands of the data plane:');
    expect(watch().findDenial(A)).not.toBeNull();
    expect(existsSync(join(dataDir, 'identity'))).toBe(true);
  });

  it('moves keys and ledger aside to register anew, and leaves the switch', async () => {
    engage(null);
    expect(await run('register-anew')).toMatchObject({ code: 1 });
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(join(dataDir, LEDGER_FILE));
    database.exec('CREATE TABLE t (x)');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)');
    expect((await run('register-anew')).output).toContain('stop it first');
    database.exec('COMMIT');
    database.close();
    const lock = lockLedger(join(dataDir, LEDGER_FILE));
    expect((await run('register-anew')).output).toContain('stop it first');
    lock.release();
    mkdirSync(join(dataDir, PAYLOADS_FOLDER, A), { recursive: true });
    const { code, output } = await run('register-anew');
    expect(code).toBe(0);
    const evidence = /kept in (\S+);/.exec(output)?.[1] ?? '';
    expect(readFileSync(join(evidence, LEDGER_FILE)).length).toBeGreaterThan(0);
    expect(existsSync(join(evidence, PAYLOADS_FOLDER, A))).toBe(true);
    expect(existsSync(join(dataDir, PAYLOADS_FOLDER))).toBe(false);
    expect((await run('kill-switch', 'status')).output).toContain('engaged for all');
  });

  it('registers all workers anew, or the one that is named', async () => {
    for (const folder of [dataDir, join(dataDir, 'worker-2'), join(dataDir, 'worker-3')]) {
      mkdirSync(join(folder, 'identity'), { recursive: true });
      writeFileSync(join(folder, 'identity', 'signing-key.pem'), 'a key');
    }
    const withKeys = () =>
      ['', 'worker-2', 'worker-3'].filter((name) => existsSync(join(dataDir, name, 'identity')));
    expect((await run('register-anew', '--worker', '4')).output).toContain('holds no worker 4');
    expect(await run('register-anew', '--worker', '2')).toMatchObject({ code: 0 });
    expect(withKeys()).toEqual(['', 'worker-3']);
    expect(await run('register-anew')).toMatchObject({ code: 0 });
    expect(withKeys()).toEqual([]);
  });
});
