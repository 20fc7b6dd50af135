/**
 * Batches look-ups by key: simultaneous look-ups share a query, and under load one query goes out
 * every few milliseconds with all keys requested meanwhile. A query begins after every look-up that
 * it answers, so results are as fresh as those of separate queries; nothing is cached. Proven by
 * gathered-reads.test.ts.
 */
export interface GatheredReadsOptions<V> {
  /** @returns the values by key; a missing key was not found */
  read(keys: string[]): Promise<Map<string, V>>;
  /**
   * The least time between two rounds of queries, in milliseconds; a lone look-up does not wait.
   */
  everyMs?: number;
  /** The most keys of one query; more keys go out as several queries at once. */
  most?: number;
}

const EVERY_MS = 10;
const MOST = 500;

interface Asked<V> {
  promise: Promise<V | undefined>;
  resolve(found: V | undefined): void;
  reject(error: unknown): void;
}

/**
 * @returns finds the value of one key; throws what `read` threw for the query it was in
 */
export function createGatheredReads<V>(
  options: GatheredReadsOptions<V>,
): (key: string) => Promise<V | undefined> {
  const { read, everyMs = EVERY_MS, most = MOST } = options;
  let waiting = new Map<string, Asked<V>>();
  let notBefore = 0;

  async function query(part: [string, Asked<V>][]): Promise<void> {
    try {
      const found = await read(part.map(([key]) => key));
      for (const [key, { resolve }] of part) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of part) reject(error);
    }
  }

  function send(): void {
    const asked = [...waiting];
    waiting = new Map();
    notBefore = performance.now() + everyMs;
    for (let i = 0; i < asked.length; i += most) void query(asked.slice(i, i + most));
  }

  function schedule(): void {
    const wait = notBefore - performance.now();
    // Deferred to the end of the turn: one change may end a thousand polls, which all look up their
    // token in the same turn of the event loop.
    if (wait <= 0) setImmediate(send);
    else setTimeout(send, wait);
  }

  return (key) => {
    const known = waiting.get(key);
    if (known) return known.promise;
    if (waiting.size === 0) schedule();
    const asked = createAsked<V>();
    waiting.set(key, asked);
    return asked.promise;
  };
}

function createAsked<V>(): Asked<V> {
  let settle: Omit<Asked<V>, 'promise'> | undefined;
  const promise = new Promise<V | undefined>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as unknown as Omit<Asked<V>, 'promise'>) };
}
