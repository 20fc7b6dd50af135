/**
 * Sets of patterns on the linear-time engine, as pattern-contract.ts promises. Proven by
 * pattern-set.test.ts, and against JavaScript's own expressions by agreement.test.ts.
 */
import type { CompileFailure, EngineInstance } from './engine-instance.ts';
import { type EngineHost, engineHosts, type SetKey } from './engine-pool.ts';
import {
  MAX_BUILTIN_PATTERNS,
  MAX_REGEX_LENGTH,
  MAX_TENANT_PATTERNS,
  MAX_TEXT_LENGTH,
  PatternBudgetError,
  type PatternKind,
  type PatternMatch,
  type PatternSet,
  type PatternSource,
  PatternSyntaxError,
} from './pattern-contract.ts';

export * from './pattern-contract.ts';

/**
 * Compiles patterns into one set. The syntax is that of Rust's `regex`, without look-around and
 * back-references (docs/detection-engine.md); `\d`, `\s`, `\w` and `\b` mean ASCII.
 *
 * @param patterns matches carry their ids; each expression at most MAX_REGEX_LENGTH UTF-16 units;
 *   at most MAX_TENANT_PATTERNS per tenant
 * @throws PatternSyntaxError for the first rejected expression: one with a syntax error, one that
 *   is too long or too large, or one that matches the empty text
 * @throws PatternBudgetError for too many patterns, or patterns too large together
 */
export function createPatternSet(
  patterns: readonly PatternSource[],
  kind: PatternKind,
  host: EngineHost = engineHosts[kind],
): PatternSet {
  checkCounts(patterns, kind);
  const ids = patterns.map(({ id }) => id);
  const key: SetKey = { expressions: patterns.map(({ regex }) => regex) };

  const run = <T>(work: (engine: EngineInstance, set: number) => T): T => {
    const result = host.use(key, (engine, set) => ({ value: work(engine, set) }));
    if ('reason' in result) throw toError(result, patterns);
    return result.value;
  };
  const read = <T extends ArrayLike<number>>(
    text: string,
    work: (engine: EngineInstance, set: number) => T | null,
  ): T | readonly [] => {
    if (text.length > MAX_TEXT_LENGTH) {
      throw new RangeError(`a text has at most ${MAX_TEXT_LENGTH} characters`);
    }
    if (ids.length === 0 || text === '') return [];
    const numbers = run(work);
    if (!numbers) throw new PatternBudgetError('the patterns cost too much on this text');
    return numbers;
  };

  run(() => undefined);
  return {
    kind,
    hits: (text) =>
      Array.from(
        read(text, (engine, set) => engine.hits(set, text)),
        (i) => idOf(ids, i),
      ),
    find(text) {
      const numbers = read(text, (engine, set) => engine.find(set, text));
      const matches: PatternMatch[] = [];
      for (let i = 0; i < numbers.length; i += 3) {
        const [pattern, start, end] = [numbers[i], numbers[i + 1], numbers[i + 2]];
        matches.push({ id: idOf(ids, pattern), start: start ?? 0, end: end ?? 0 });
      }
      return matches;
    },
    close: () => host.release(key),
  };
}

function checkCounts(patterns: readonly PatternSource[], kind: PatternKind): void {
  const most = kind === 'tenant' ? MAX_TENANT_PATTERNS : MAX_BUILTIN_PATTERNS;
  if (patterns.length > most) throw new PatternBudgetError(`a set has at most ${most} patterns`);
  for (const { id, regex } of patterns) {
    if (regex.length <= MAX_REGEX_LENGTH) continue;
    const message = `an expression has at most ${MAX_REGEX_LENGTH} characters`;
    throw new PatternSyntaxError(id, message, MAX_REGEX_LENGTH);
  }
}

function toError(failure: CompileFailure, patterns: readonly PatternSource[]): Error {
  if (failure.reason === 'too-large') return new PatternBudgetError(failure.message);
  const { id, regex } = patterns[failure.pattern] as PatternSource;
  const offset = Buffer.from(regex).subarray(0, failure.byteOffset).toString().length;
  return new PatternSyntaxError(id, failure.message, offset);
}

function idOf(ids: readonly string[], place = -1): string {
  const id = ids[place];
  if (id === undefined) throw new Error('the engine named a pattern that is not in the set');
  return id;
}
