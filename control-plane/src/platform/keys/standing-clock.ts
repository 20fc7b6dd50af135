/**
 * A clock that never runs back, for what the control plane itself lets in until a time (tokens of
 * administrators and data planes, enrollment and installer tokens), and for what data planes refuse
 * where it is older than the last: its statements. A machine's clock that is set back revives no
 * token and stops no statement, not even over a restart or at another replica: all share the newest
 * time in one row, written once a minute. Proven by standing-clock.pg.test.ts; why: ADR 24.
 *
 * A machine that is suddenly ahead is believed at once, since then more is over, but what it shows
 * is kept only once it has shown it for ten minutes: a short glitch leaves nothing behind.
 */
import { CLOCK_JUMP_MS, createJumpWatch } from '@governance/shared/time/clock-jumps';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import {
  type PlatformTransaction,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from '../database/tenant-scope.ts';
import { repeat, type Schedule } from '../schedule.ts';

const SHARE_EVERY_MS = 60_000;
/**
 * By how much the time goes on more slowly while the machine's clock is behind: it catches up with
 * small corrections, and with a monotonic clock that runs a little fast.
 */
const SLOWER = 0.001;
/** Corrections of NTP are far smaller. */
const BEHIND_MS = 60_000;

/**
 * @param options.now the machine's clock
 * @param options.elapsed a monotonic clock, milliseconds
 */
export function createStandingClock(options: {
  db: Pick<TenantDatabase, 'inPlatform'>;
  now: () => Date;
  log: Pick<Logger, 'warn' | 'error'>;
  registry: Registry;
  elapsed?: () => number;
}) {
  const { db, log } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const machine = () => options.now().getTime();
  let seen = Number.NEGATIVE_INFINITY;
  let seenAt = 0;
  /** The machine's clock is far ahead. */
  const jump = createJumpWatch(elapsed);
  /** It was so at the start, as after a stop of hours, and the database's clock agreed. */
  let isAheadSinceStop = false;
  let generation = 0;
  let schedule: Schedule | undefined;
  let isBehindLogged = false;

  const steady = () => Math.floor(seen + (elapsed() - seenAt) * (1 - SLOWER));

  function set(time: number): void {
    seen = time;
    seenAt = elapsed();
  }

  function endJump(): void {
    jump.end();
    isAheadSinceStop = false;
  }

  /** Milliseconds, never less than what was kept. */
  function read(): number {
    const wall = machine();
    const kept = steady();
    if (wall - kept > CLOCK_JUMP_MS) {
      const shown = jump.show(wall);
      if (shown === null) return wall;
      endJump();
      set(Math.max(shown, kept));
      // It may have jumped again since.
      return read();
    }
    endJump();
    if (wall <= kept) return kept;
    set(wall);
    return wall;
  }

  const behindMs = () => read() - machine();

  function readKept(): number {
    const wall = read();
    const time = steady();
    if (isAheadSinceStop) return Math.max(time, Math.floor(Math.min(wall, jump.least())));
    return Number.isFinite(time) ? time : wall;
  }

  /** Exchanges the newest time with the other processes. @returns what the database's clock shows */
  async function exchange(): Promise<Date> {
    read();
    const kept = steady();
    const own = new Date(Number.isFinite(kept) ? kept : 0);
    const found = await db.inPlatform(SYSTEM_ACTOR, async (tx) => {
      const [row] = await tx.db.$queryRaw<{ newest: Date; generation: number; at: Date }[]>`
        INSERT INTO service_clock AS c (newest, generation) VALUES (${own}, ${generation})
        ON CONFLICT (one) DO UPDATE SET newest = CASE WHEN c.generation = ${generation}
          THEN greatest(c.newest, excluded.newest) ELSE c.newest END
        RETURNING newest, generation, clock_timestamp() AS at`;
      return row;
    });
    if (!found) throw new Error('the clock has one row');
    const { newest } = found;
    if (found.generation !== generation) {
      // The operator has accepted an earlier time: a machine that is ahead of it has yet to show that.
      generation = found.generation;
      endJump();
      set(newest.getTime());
    } else if (newest.getTime() > steady()) set(newest.getTime());
    logBehind();
    return found.at;
  }

  const share = async (): Promise<void> => void (await exchange());

  function logBehind(): void {
    const isBehind = behindMs() > BEHIND_MS;
    if (isBehind && !isBehindLogged) {
      const seconds = Math.round(behindMs() / 1_000);
      log.error(
        { seconds },
        "the machine's clock is behind the newest time that the control plane has shown: tokens go by the newest time; set the clock, or run accept-clock",
      );
    }
    isBehindLogged = isBehind;
  }

  new Gauge({
    name: 'governance_clock_behind_seconds',
    help: "By how much the machine's clock is behind the newest time that the control plane has shown",
    registers: [options.registry],
    collect() {
      this.set(behindMs() / 1_000);
    },
  });

  return {
    /** The time by which anything ends here. */
    now: (): Date => new Date(read()),
    /**
     * Which of the clocks that operators have accepted `now` is: read it in the same turn. It is never
     * one that the database has not committed.
     */
    generation: (): number => generation,
    /**
     * By which keys begin and end, and what they sign for evidence is dated: never less than what was
     * kept, and nothing of a jump ahead that the machine has not shown for ten minutes. What it was
     * ahead by at the start, by the database's clock too, is no jump: nothing ran meanwhile.
     */
    kept: (): Date => new Date(readKept()),
    /** Whether the machine's clock has jumped ahead of that time, and has not shown it for long. */
    isAhead: (): boolean => machine() - readKept() > CLOCK_JUMP_MS,
    /**
     * For what cannot be undone: the machine's time, but not a jump ahead that it has not shown for
     * ten minutes.
     */
    settled: (): Date => {
      read();
      return new Date(Math.min(machine(), steady()));
    },
    /** For /ready. */
    findWarnings: (): Record<string, string> => {
      if (behindMs() <= BEHIND_MS) return {};
      const seconds = Math.round(behindMs() / 1_000);
      return { clock: `the machine's clock is ${seconds} s behind the newest time shown before` };
    },
    share,
    /** Reads the newest time, and exchanges it from then on. @throws where the database is away */
    start: async (): Promise<void> => {
      const shown = (await exchange()).getTime();
      // The first process on this database has nothing to compare its machine's clock with.
      if (seen === 0) set(machine());
      const wall = machine();
      isAheadSinceStop = wall - steady() > CLOCK_JUMP_MS && Math.abs(wall - shown) <= CLOCK_JUMP_MS;
      schedule ??= repeat(SHARE_EVERY_MS, share, (err) =>
        log.warn({ err }, 'the newest time could not be exchanged and will be tried again'),
      );
    },
    stop: async (): Promise<void> => {
      await schedule?.stop();
      await share().catch((err: unknown) => log.warn({ err }, 'the newest time was not kept'));
    },
  };
}

/** The newest time that any process has kept, for a command beside the service. */
export async function readKeptClock({ db }: Pick<PlatformTransaction, 'db'>): Promise<Date> {
  const [row] = await db.$queryRaw<{ newest: Date }[]>`SELECT newest FROM service_clock`;
  return row?.newest ?? new Date(0);
}

const MINUTE_MS = 60_000;
/** The column's type has no more than some 2,147 million. */
const MAX_MINUTES = 2_000_000_000;

/**
 * The least number that the next generation has: minutes since 1970, so that it is above those that a
 * database had which was replaced by its backup. Data planes refuse lower ones.
 */
const leastGeneration = (now: Date): number =>
  Math.min(Math.max(1, Math.floor(now.getTime() / MINUTE_MS)), MAX_MINUTES);

/**
 * Begins the next generation of the clock, which goes on as it is: data planes let go of the times
 * that were signed before. For a database that was restored from a backup: they may have met a
 * generation that it does not know. In a tenant's transaction it commits with the tenant's record.
 */
export async function beginClockGeneration(
  { db }: Pick<PlatformTransaction, 'db'>,
  now: Date,
): Promise<void> {
  // The clock is no tenant's.
  await db.$queryRaw`SELECT set_config('app.platform', 'on', true)`;
  await db.$executeRaw`
    UPDATE service_clock SET generation = greatest(generation + 1, ${leastGeneration(now)}::int)`;
  await db.$queryRaw`SELECT set_config('app.platform', 'off', true)`;
}

/**
 * Sets the newest time to the machine's, which all processes take over within a minute: the way out
 * where a clock was far ahead for long. In a tenant's transaction it commits with the tenant's
 * record of it.
 *
 * @returns the newest time before; undefined where none was kept
 */
export async function acceptClock(
  { db }: Pick<PlatformTransaction, 'db'>,
  now: Date,
): Promise<Date | undefined> {
  // The clock is no tenant's.
  await db.$queryRaw`SELECT set_config('app.platform', 'on', true)`;
  const [before] = await db.$queryRaw<{ newest: Date }[]>`
    SELECT newest FROM service_clock FOR UPDATE`;
  await db.$executeRaw`
    INSERT INTO service_clock AS c (newest, generation) VALUES (${now}, ${leastGeneration(now)}::int)
    ON CONFLICT (one) DO UPDATE SET newest = excluded.newest,
      generation = greatest(c.generation + 1, excluded.generation)`;
  await db.$queryRaw`SELECT set_config('app.platform', 'off', true)`;
  return before?.newest;
}
