/**
 * Limits how many passwords are verified at once, and chooses the next. argon2 takes a core for
 * about 30 ms, so guesses queue up without keeping others out: addresses without recent failures go
 * first, the rest take turns by address. The queue is bounded; when it is full, the address with
 * the most entries loses one. Proven by password-gate.test.ts.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { AppError } from '@governance/shared/errors';

export interface PasswordGate {
  /**
   * Runs `work` when its turn comes.
   *
   * @throws AppError RATE_LIMITED when the entry was evicted; whatever `work` throws
   */
  run<T>(asker: PasswordAsker, work: () => Promise<T>): Promise<T>;
}

/** For whom a password is hashed or verified. */
export interface PasswordAsker {
  /** `addressGroup` of the caller, or another name under which the work takes its turns. */
  readonly place: string;
  /** Whether the place had no recent failure, so that it goes first. */
  readonly isFresh: boolean;
}

export interface PasswordGateLimits {
  running: number;
  waiting: number;
}

interface Waiting {
  start(): void;
  giveWay(): void;
}

/** Half of the cores; the others serve calls. */
const DEFAULTS: PasswordGateLimits = {
  running: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  waiting: 200,
};

/** Every fourth turn is for addresses with failures, however many fresh ones wait. */
const TURN_OF_OTHERS = 4;

export function createPasswordGate(limits: PasswordGateLimits = DEFAULTS): PasswordGate {
  const fresh: Waiting[] = [];
  /** By place, in the order of their turns. */
  const others = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;
  let turn = 0;

  function takeNext(): Waiting | undefined {
    turn++;
    const isForOthers = fresh.length === 0 || turn % TURN_OF_OTHERS === 0;
    const [place, queue] = (isForOthers && others.entries().next().value) || [];
    if (place === undefined || queue === undefined) return fresh.shift();
    const next = queue.shift();
    others.delete(place);
    if (queue.length > 0) others.set(place, queue);
    return next;
  }

  function startNext(): void {
    while (running < limits.running && waiting > 0) {
      waiting--;
      running++;
      takeNext()?.start();
    }
  }

  /** The newest entry of the place with the most waiting; any entry when all are fresh. */
  function makeRoom(): void {
    let longest: [string, Waiting[]] | undefined;
    for (const entry of others) {
      if (longest === undefined || entry[1].length >= longest[1].length) longest = entry;
    }
    waiting--;
    if (longest === undefined) {
      fresh.splice(randomInt(fresh.length), 1)[0]?.giveWay();
      return;
    }
    const [place, queue] = longest;
    queue.pop()?.giveWay();
    if (queue.length === 0) others.delete(place);
  }

  function enqueue({ place, isFresh }: PasswordAsker, entry: Waiting): void {
    waiting++;
    if (isFresh) fresh.push(entry);
    else others.set(place, [...(others.get(place) ?? []), entry]);
    startNext();
    if (waiting > limits.waiting) makeRoom();
  }

  return {
    run: async (asker, work) => {
      await new Promise<void>((resolve, reject) => {
        const giveWay = () =>
          reject(new AppError('RATE_LIMITED', 'Many passwords are being verified: try again.'));
        enqueue(asker, { start: resolve, giveWay });
      });
      try {
        return await work();
      } finally {
        running--;
        startNext();
      }
    },
  };
}
