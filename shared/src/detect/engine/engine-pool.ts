/**
 * The thread's engines: one for our own patterns and one for tenants', so that nothing a tenant
 * writes evicts our compiled sets. A set is compiled on demand and may be dropped at any time,
 * since memory is bounded: the least recently used sets are dropped, and an engine whose memory has
 * grown, or that has trapped, is replaced.
 */
import { LRUCache } from 'lru-cache';
import {
  type CompileFailure,
  createEngineInstance,
  type EngineInstance,
} from './engine-instance.ts';
import type { PatternKind } from './pattern-contract.ts';

const MIB = 1024 * 1024;
const LIMITS = {
  builtin: { sets: 8, memoryBytes: 192 * MIB },
  tenant: { sets: 32, memoryBytes: 96 * MIB },
} satisfies Record<PatternKind, { sets: number; memoryBytes: number }>;

/** Identifies a compiled set; only its identity is used. */
export interface SetKey {
  readonly expressions: readonly string[];
}

export type EngineHost = ReturnType<typeof createEngineHost>;

/** @param newInstance replaced by tests, to provoke a trap */
export function createEngineHost(kind: PatternKind, newInstance = createEngineInstance) {
  const limits = LIMITS[kind];
  let engine: EngineInstance | undefined;
  const sets = new LRUCache<SetKey, number>({
    max: limits.sets,
    dispose: (set) => engine?.release(set),
  });

  /** Nothing of the instance is used again: its memory is freed with it. */
  const retire = (): void => {
    engine = undefined;
    sets.clear();
  };

  const compile = (running: EngineInstance, key: SetKey): number | CompileFailure => {
    const known = sets.get(key);
    if (known !== undefined) return known;
    const set = running.compile(key.expressions, kind === 'tenant');
    if (typeof set === 'number') sets.set(key, set);
    return set;
  };

  return {
    /**
     * @param work receives the engine and the set's number
     * @throws Error when the engine traps; the next use starts a new one
     */
    use<T>(key: SetKey, work: (engine: EngineInstance, set: number) => T): T | CompileFailure {
      try {
        engine ??= newInstance();
        const set = compile(engine, key);
        return typeof set === 'number' ? work(engine, set) : set;
      } catch (cause) {
        retire();
        throw new Error('the pattern engine stopped', { cause });
      } finally {
        if (engine && engine.memoryBytes() > limits.memoryBytes) retire();
      }
    },

    release(key: SetKey): void {
      sets.delete(key);
    },

    compiledSets: (): number => sets.size,
    memoryBytes: (): number => engine?.memoryBytes() ?? 0,
  };
}

/** This thread's. */
export const engineHosts: Readonly<Record<PatternKind, EngineHost>> = {
  builtin: createEngineHost('builtin'),
  tenant: createEngineHost('tenant'),
};
