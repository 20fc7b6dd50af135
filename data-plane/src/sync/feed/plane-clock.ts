/**
 * A clock that never runs back, not even over a restart: the latest time seen, on this machine's
 * clock or in a verified statement, advanced by the monotonic clock. Setting the machine's clock
 * back gains nothing; only the time between a stop and a start is taken from the machine alone.
 * Proven by freshness.test.ts.
 */
import { readFileSync } from 'node:fs';
import { storeFileDurably, writeFileDurably } from '@governance/shared/process/durable-file';
import { CLOCK_JUMP_MS, createJumpWatch } from '@governance/shared/time/clock-jumps';

const KEEP_EVERY_MS = 10_000;

/** Two clocks this close show the same time. */
const TOLERANCE_MS = 3 * 60_000;

export type PlaneClock = ReturnType<typeof createPlaneClock>;

/**
 * @param options.path where the time is kept
 * @param options.now the machine's clock, Unix milliseconds
 * @param options.elapsed a monotonic clock, milliseconds
 */
export function createPlaneClock(options: {
  path: string;
  now: () => number;
  elapsed?: () => number;
  keepEveryMs?: number;
  onError?: (error: unknown) => void;
}) {
  const { path, now } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  let seen = readKept(path);
  let seenAt = elapsed();
  let kept = seen;
  let keeping = false;
  /** Without a jump ahead of the machine's clock, until that has lasted for ten minutes. */
  let calm = Math.max(seen, now());
  let calmAt = elapsed();
  const jump = createJumpWatch(elapsed);
  /** Since the start, no statement says that the machine's clock is right. */
  let isUnproven = true;
  /** By how much all that it showed was moved. */
  let shift = 0;

  function setCalm(time: number): number {
    calm = time;
    calmAt = elapsed();
    jump.end();
    return time;
  }

  function settled(): number {
    const steady = calm + (elapsed() - calmAt);
    const wall = now();
    if (wall - steady <= CLOCK_JUMP_MS) {
      jump.end();
      return wall > steady ? setCalm(wall) : steady;
    }
    const shown = jump.show(wall);
    if (shown === null) return steady;
    setCalm(Math.max(shown, steady));
    // It may have jumped again since.
    return settled();
  }

  function set(time: number): void {
    seen = time;
    seenAt = elapsed();
  }

  function read(): number {
    const steady = seen + (elapsed() - seenAt);
    const wall = now();
    if (wall < steady) return steady;
    set(wall);
    return wall;
  }

  /** Off the main thread: a slow disk must not delay a call. */
  async function keepLater(): Promise<void> {
    settled();
    const time = Math.floor(read());
    if (keeping || time === kept) return;
    keeping = true;
    try {
      await storeFileDurably(path, `${time}\n`);
      kept = time;
    } catch (error) {
      options.onError?.(error);
    } finally {
      keeping = false;
    }
  }

  const timer = setInterval(() => void keepLater(), options.keepEveryMs ?? KEEP_EVERY_MS);
  timer.unref();

  function keep(): void {
    kept = Math.floor(read());
    writeFileDurably(path, `${kept}\n`);
  }

  function keepOrTell(): void {
    try {
      keep();
    } catch (error) {
      options.onError?.(error);
    }
  }

  return {
    /** Unix milliseconds, never less than before, but for `confirm` and `rebase`. */
    read,
    /**
     * Unix milliseconds by which a jump ahead counts only once the machine's clock has shown it for
     * ten minutes.
     */
    settled,
    /** Whether the machine's clock shows such a jump now. */
    isAhead: (): boolean => settled() < now() && jump.isUnderWay(),
    /** Counts a verified statement's time as seen. */
    note: (time: number): void => {
      isUnproven = false;
      if (time > read()) set(time);
      if (time > settled()) setCalm(time);
    },
    /**
     * Takes the time of the newest statement of before the start. What the machine shows beyond it is
     * a jump that has to last: the machine may be started with a wrong clock, or the process while it
     * is wrong.
     */
    resume: (time: number): void => {
      if (time > read()) set(time);
      if (isUnproven || time > settled()) setCalm(time);
      isUnproven = false;
    },
    /**
     * A statement newer than all before agrees with this machine's clock: if that clock was far
     * ahead before, it was wrong then, and what it showed is discarded.
     */
    confirm: (time: number): void => {
      const wall = now();
      const wasAhead = read() - wall > TOLERANCE_MS;
      if (!wasAhead || Math.abs(wall - time) > TOLERANCE_MS) return;
      set(Math.max(wall, time));
      if (settled() > seen) setCalm(seen);
    },
    /**
     * Where the clock goes on from, for a statement of a clock that the control plane's operator has
     * accepted: from its time, or from the machine's where that is not as far.
     */
    baseFor: (time: number): number => {
      const wall = now();
      return time - wall <= CLOCK_JUMP_MS ? time : wall;
    },
    /**
     * Lets go of the time that it has shown. Where statement and machine disagree, ages and ends are
     * counted by the later of them until a further statement agrees with the machine.
     */
    rebase: (time: number, base: number): void => {
      const before = read();
      set(Math.max(base, Math.min(time, before)));
      setCalm(base);
      isUnproven = false;
      shift += read() - before;
      keepOrTell();
    },
    /** What `rebase` has moved it by in all: ages go on as they were. */
    shift: (): number => shift,
    /** Stores the time durably now. */
    keep,
    /** Stores the time, if the disk takes it: what is left of a stop must not depend on that. */
    stop: (): void => {
      clearInterval(timer);
      keepOrTell();
    },
  };
}

/** Without a readable file it starts from the machine's clock. */
function readKept(path: string): number {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return /^\d{1,15}$/.test(text) ? Number(text) : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
