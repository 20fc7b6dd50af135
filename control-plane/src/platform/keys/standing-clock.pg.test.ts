/** The clock by which tokens end: over restarts, at several replicas, and after a clock far ahead. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aTenant } from '../../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { runControlPlaneCommand } from '../../commands.ts';
import { SYSTEM_ACTOR } from '../database/tenant-scope.ts';
import { acceptClock, beginClockGeneration, createStandingClock } from './standing-clock.ts';

const test = await testDatabase();
const { db, superuser } = test;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const NOON = Date.parse('2026-03-01T12:00:00.000Z');

/** One machine: its clock, and the time that has really passed. */
let wall: number;
let passed: number;
beforeEach(async () => {
  wall = NOON;
  passed = 0;
  await superuser.query('DELETE FROM service_clock');
});

function pass(ms: number): void {
  wall += ms;
  passed += ms;
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process, of this machine unless it has a clock of its own. */
async function aProcess(clock = () => wall) {
  const registry = new Registry();
  const logged: unknown[] = [];
  const standing = createStandingClock({
    db,
    now: () => new Date(clock()),
    elapsed: () => passed,
    log: {
      warn: (line: unknown) => logged.push(line),
      error: (line: unknown) => logged.push(line),
    },
    registry,
  });
  await standing.start();
  stops.push(standing.stop);
  await standing.share();
  const behind = async () => {
    const metric = await registry.getSingleMetric('governance_clock_behind_seconds')?.get();
    return metric?.values[0]?.value;
  };
  return { ...standing, read: () => standing.now().getTime(), behind, logged };
}

describe('a machine’s clock that is set back', () => {
  it('does not set back the time, which goes on by what has passed', async () => {
    const one = await aProcess();
    pass(MINUTE);
    expect(one.read()).toBe(NOON + MINUTE);
    wall -= 9 * HOUR;
    expect(one.read()).toBe(NOON + MINUTE);
    pass(30 * MINUTE);
    // A thousandth slower.
    expect(one.read()).toBe(NOON + 31 * MINUTE - 1_800);
    expect(await one.behind()).toBe(9 * 60 * 60 - 1.8);
    expect(one.findWarnings()).toEqual({
      clock: 'the machine’s clock is 32398 s behind the newest time shown before'.replace('’', "'"),
    });
    await one.share();
    await one.share();
    expect(one.logged).toEqual([{ seconds: 32_398 }]);
    wall += 9 * HOUR;
    expect(one.findWarnings()).toEqual({});
    await one.stop();
  });

  it('is nothing to tell where it is corrected a little, again and again', async () => {
    const one = await aProcess();
    // For a month, with 20 s a day in all.
    for (let hour = 0; hour < 30 * 24; hour++) {
      pass(HOUR);
      one.read();
      wall -= 833;
    }
    expect(await one.behind()).toBeLessThan(1);
    expect(one.findWarnings()).toEqual({});
  });

  it('does not set it back over a restart, or a kill', async () => {
    const one = await aProcess();
    pass(20 * MINUTE);
    await one.share();
    pass(5 * MINUTE);
    wall -= 3 * 24 * HOUR;
    const afterKill = await aProcess();
    expect(afterKill.read()).toBe(NOON + 20 * MINUTE);
    await one.stop();
    const afterStop = await aProcess();
    expect(afterStop.read()).toBe(NOON + 25 * MINUTE - 300);
    for (const each of [afterKill, afterStop]) await each.stop();
  });

  it('is held to what another replica shows', async () => {
    const right = await aProcess();
    pass(MINUTE);
    await right.share();
    const behind = await aProcess(() => wall - 2 * HOUR);
    expect(behind.read()).toBe(NOON + MINUTE);
    // And hands on no earlier one.
    await behind.share();
    expect((await superuser.query('SELECT newest FROM service_clock')).rows).toEqual([
      { newest: new Date(NOON + MINUTE) },
    ]);
    for (const each of [right, behind]) await each.stop();
  });
});

it('the time of keys neither runs back nor follows a jump that has not lasted ten minutes', async () => {
  const one = await aProcess();
  const kept = () => one.kept().getTime();
  pass(MINUTE);
  expect(kept()).toBe(NOON + MINUTE);
  wall -= 9 * HOUR;
  expect(kept()).toBe(NOON + MINUTE);
  wall += 9 * HOUR + YEAR;
  expect(kept()).toBe(NOON + MINUTE);
  pass(9 * MINUTE);
  // A thousandth slower.
  expect(kept()).toBe(NOON + 10 * MINUTE - 540);
  pass(2 * MINUTE);
  expect(kept()).toBe(wall);
  wall -= YEAR;
  expect(kept()).toBe(wall + YEAR);
  await one.share();
  await db.inPlatform(SYSTEM_ACTOR, (tx) => acceptClock(tx, new Date(wall)));
  await one.share();
  expect(kept()).toBe(wall);
});

it('keys have the machine’s time before the newest is read', () => {
  const { kept } = createStandingClock({
    ...{ db, now: () => new Date(wall), elapsed: () => passed, registry: new Registry() },
    log: { warn: () => undefined, error: () => undefined },
  });
  expect(kept().getTime()).toBe(wall);
});

describe('a machine’s clock that is far ahead', () => {
  it('is believed at once, and forgotten where it lasted for less than ten minutes', async () => {
    const one = await aProcess();
    pass(MINUTE);
    await one.share();
    wall += 4 * YEAR;
    expect(one.read()).toBe(wall);
    pass(9 * MINUTE);
    expect(one.read()).toBe(wall);
    await one.share();
    wall -= 4 * YEAR;
    expect(one.read()).toBe(NOON + 10 * MINUTE);
    expect((await aProcess()).read()).toBe(NOON + 10 * MINUTE);
    expect(one.findWarnings()).toEqual({});
  });

  it('deletes nothing before it has lasted ten minutes, over a restart too', async () => {
    const one = await aProcess();
    pass(MINUTE);
    expect(one.settled().getTime()).toBe(NOON + MINUTE);
    await one.share();
    wall += 4 * YEAR;
    pass(5 * MINUTE);
    const restarted = await aProcess();
    for (const each of [one, restarted]) {
      expect(each.read()).toBe(wall);
      expect(each.settled().getTime()).toBeLessThanOrEqual(NOON + 6 * MINUTE);
    }
    pass(11 * MINUTE);
    expect(one.settled().getTime()).toBe(wall);
    // Nor by a time that only others have shown.
    wall -= 5 * YEAR;
    expect(one.settled().getTime()).toBe(wall);
  });

  it('is kept after ten minutes, until the operator accepts the right one, at every replica', async () => {
    const one = await aProcess();
    const other = await aProcess();
    wall += 4 * YEAR;
    one.read();
    pass(11 * MINUTE);
    one.read();
    await one.share();
    wall -= 4 * YEAR;
    await other.share();
    const ahead = NOON + 4 * YEAR + 11 * MINUTE;
    for (const each of [one, other]) expect(each.read()).toBe(ahead);

    const accepted = db.inPlatform(SYSTEM_ACTOR, (tx) => acceptClock(tx, new Date(wall)));
    expect(await accepted).toEqual(new Date(ahead));
    // One that has not heard of it yet does not put its own back.
    await other.share();
    pass(MINUTE);
    await one.share();
    for (const each of [one, other]) expect(each.read()).toBe(wall);
    await one.share();
    expect((await aProcess()).read()).toBe(wall);
    // And from then on nothing goes back behind that.
    wall -= HOUR;
    for (const each of [one, other]) expect(each.read()).toBe(wall + HOUR);
  });

  it('is taken back by a command, which every tenant’s admin chain records', async () => {
    const { tenantId } = await aTenant(test);
    await superuser.query(
      `INSERT INTO service_clock (newest, generation) VALUES ('2090-01-01T00:00:00Z', 3)`,
    );
    const output: string[] = [];
    const out = {
      log: (text: string) => output.push(text),
      error: (text: string) => output.push(text),
    };
    const env = { DATABASE_URL: test.url };
    expect(await runControlPlaneCommand(['accept-clock'], env, out)).toBe(2);
    const began = Date.now();
    const given = ['accept-clock', '--reason', 'it showed 2090'];
    expect(await runControlPlaneCommand(given, env, out), output.join()).toBe(0);
    expect(output.at(-1)).toContain('it was 2090-01-01T00:00:00.000Z');
    const { rows } = await superuser.query('SELECT newest, generation FROM service_clock');
    const minutes = Math.floor(began / MINUTE);
    expect(rows).toEqual([{ newest: expect.any(Date), generation: expect.any(Number) }]);
    expect(rows[0].generation).toBeGreaterThanOrEqual(minutes);
    expect(rows[0].newest.getTime()).toBeGreaterThanOrEqual(began);
    const records = await superuser.query(
      `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'`,
      [tenantId],
    );
    expect(records.rows.map(({ bytes }) => JSON.parse(bytes.toString()))).toMatchObject([
      { action: 'clock_accepted', details: { reason: 'it showed 2090' } },
    ]);
  });

  it('has a generation, which rises each time, also above that of a database which was lost', async () => {
    const one = await aProcess();
    const other = await aProcess();
    const accept = () =>
      db.inPlatform(SYSTEM_ACTOR, async (tx) => void (await acceptClock(tx, new Date(wall))));
    expect(one.generation()).toBe(0);
    wall += YEAR;
    passed += 11 * MINUTE;
    await one.share();
    wall -= YEAR;
    await accept();
    const time = one.read();
    expect(one.generation()).toBe(0);
    await one.share();
    const first = one.generation();
    expect([first, one.read()]).toEqual([NOON / MINUTE, wall]);
    expect(time).toBeGreaterThan(wall);
    // Two at once: none is lost.
    await Promise.all([accept(), accept()]);
    await one.share();
    expect(one.generation()).toBe(first + 2);
    // Another process goes on under the generation that it knows, with the time of that.
    expect(other.generation()).toBe(0);

    await superuser.query('UPDATE service_clock SET generation = 0');
    pass(10 * MINUTE);
    await db.inPlatform(SYSTEM_ACTOR, (tx) => beginClockGeneration(tx, new Date(wall)));
    await one.share();
    expect(one.generation()).toBeGreaterThan(first + 2);
    expect((await aProcess()).generation()).toBe(one.generation());
  });

  describe('by a command that does not get to its end', () => {
    const KEPT = '2090-01-01T00:00:00.000Z';
    let tenants: string[];

    beforeEach(async () => {
      await superuser.query('INSERT INTO service_clock VALUES (true, $1, 2000000001)', [KEPT]);
      tenants = [(await aTenant(test)).tenantId, (await aTenant(test)).tenantId];
    });

    afterEach(async () => {
      await superuser.query('DROP FUNCTION IF EXISTS fail CASCADE');
    });

    /** What PostgreSQL does behind a write to this table. */
    async function onWrite(table: string, statement: string): Promise<void> {
      await superuser.query(`
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN ${statement}; RETURN NULL; END $$;
        CREATE TRIGGER fail AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION fail()`);
    }

    async function run() {
      const output: string[] = [];
      const say = (text: string) => void output.push(text);
      const given = ['accept-clock', '--reason', 'it showed 2090'];
      const env = { DATABASE_URL: test.url };
      const code = await runControlPlaneCommand(given, env, { log: say, error: say });
      const clock = await superuser.query('SELECT newest FROM service_clock');
      const told = await superuser.query(
        `SELECT tenant_id AS id FROM ledger_records
         WHERE tenant_id = ANY ($1) AND type = 'admin_action' ORDER BY 1`,
        [tenants],
      );
      const isSet = clock.rows[0].newest.toISOString() !== KEPT;
      return { code, output: output.join('\n'), isSet, told: told.rows.map(({ id }) => id) };
    }

    it.each([
      ['the clock cannot be set', 'service_clock', `RAISE EXCEPTION 'no clock'`],
      [
        'the connection ends after it',
        'service_clock',
        'PERFORM pg_terminate_backend(pg_backend_pid())',
      ],
      ['nothing can be recorded', 'ledger_records', `RAISE EXCEPTION 'no record'`],
    ])('neither sets the clock nor records it where %s', async (_, table, statement) => {
      await onWrite(table, statement);
      const failed = await run();
      expect(failed).toMatchObject({ code: 1, isSet: false, told: [] });
      expect(failed.output).toContain('nothing is changed or recorded');
      await superuser.query('DROP FUNCTION fail CASCADE');
      expect(await run()).toMatchObject({ code: 0, isSet: true, told: [...tenants].sort() });
    });

    it('sets it with the first record where one of the tenants can have none', async () => {
      await onWrite(
        'ledger_records',
        `IF NEW.tenant_id = '${tenants[0]}' THEN RAISE EXCEPTION 'no record'; END IF`,
      );
      const partly = await run();
      expect(partly).toMatchObject({ code: 1, isSet: true, told: [tenants[1]] });
      expect(partly.output).toContain("it is not recorded in every tenant's admin chain");
      const { rows } = await superuser.query('SELECT generation FROM service_clock');
      expect(rows).toEqual([{ generation: 2_000_000_002 }]);
    });
  });

  it('after a long stop is the time that has really passed', async () => {
    const one = await aProcess();
    await one.stop();
    pass(30 * 24 * HOUR);
    const two = await aProcess();
    expect(two.read()).toBe(wall);
    pass(11 * MINUTE);
    two.read();
    await two.share();
    wall -= 24 * HOUR;
    expect(two.read()).toBe(wall + 24 * HOUR);
  });

  describe('after a long stop of all replicas', () => {
    /** They start one after the other on a database whose clock agrees. */
    async function restarted() {
      wall = Date.now() - HOUR;
      await (await aProcess()).stop();
      pass(HOUR);
      const first = await aProcess();
      pass(20_000);
      const second = await aProcess();
      return [first, second] as const;
    }

    it('is the one by which keys go at all of them, while they exchange the newest time', async () => {
      const both = await restarted();
      for (let minute = 0; minute < 9; minute++) {
        pass(MINUTE);
        for (const one of both) {
          await one.share();
          // The first one's monotonic clock runs a little faster, or its exchange came sooner.
          pass(10);
          expect([one.kept().getTime(), one.isAhead()]).toEqual([wall, false]);
        }
      }
      pass(MINUTE);
      for (const one of both) {
        one.read();
        await one.share();
        expect(one.settled().getTime()).toBe(wall);
      }
    });

    it('is not one that it shows for a moment before it has settled', async () => {
      const [one] = await restarted();
      wall += YEAR;
      expect(one.read()).toBe(wall);
      expect(one.kept().getTime()).toBe(wall - YEAR);
      expect(one.isAhead()).toBe(true);
      wall -= YEAR;
      expect([one.kept().getTime(), one.isAhead()]).toEqual([wall, false]);
    });
  });

  it('is not kept where it was further ahead for a moment at the end of the ten minutes', async () => {
    const one = await aProcess();
    pass(MINUTE);
    // As after a pause of the machine.
    wall += HOUR;
    one.read();
    pass(10 * MINUTE);
    wall += YEAR;
    expect(one.read()).toBe(wall);
    expect([one.kept().getTime(), one.settled().getTime()]).toEqual([wall - YEAR, wall - YEAR]);
    wall -= YEAR;
    expect([one.read(), one.kept().getTime()]).toEqual([wall, wall]);
    // A later jump has ten minutes of its own.
    wall += YEAR;
    one.read();
    pass(9 * MINUTE);
    one.read();
    expect(one.kept().getTime()).toBeLessThan(wall - YEAR + 1);
    pass(MINUTE);
    one.read();
    expect(one.kept().getTime()).toBe(wall);
  });

  it.each([
    ['by which keys go, at once', 0, true],
    ['not where the database shows another', YEAR, false],
  ])('is the one %s', async (_, wrongBy, isTaken) => {
    wall = Date.now() - HOUR;
    const one = await aProcess();
    await one.stop();
    pass(HOUR);
    wall += wrongBy;
    const two = await aProcess();
    const keyTime = two.kept().getTime();
    expect(keyTime === wall).toBe(isTaken);
    expect(two.isAhead()).toBe(!isTaken);
    // What the machine shows is kept only after ten minutes, as after any jump.
    wall -= 30 * MINUTE + wrongBy;
    expect(two.kept().getTime()).toBeLessThan(wall + MINUTE);
  });
});
