import { expect, it } from 'vitest';
import { createEngineInstance, type EngineInstance } from './engine-instance.ts';
import { createEngineHost } from './engine-pool.ts';
import { createPatternSet } from './pattern-set.ts';

const MIB = 1024 * 1024;

it('keeps the sets that are used most and compiles the others again', () => {
  const host = createEngineHost('tenant');
  const sets = Array.from({ length: 300 }, (_, i) =>
    createPatternSet([{ id: `${i}`, regex: `tenant-${i}\\b` }], 'tenant', host),
  );
  expect(host.compiledSets()).toBe(32);
  for (const [i, set] of sets.entries()) expect(set.hits(`of tenant-${i}`)).toEqual([`${i}`]);
  expect(host.compiledSets()).toBe(32);
  expect(host.memoryBytes()).toBeLessThan(16 * MIB);
  for (const set of sets) set.close();
  expect(host.compiledSets()).toBe(0);
});

it('replaces an engine that has trapped, with all its sets', () => {
  let instances = 0;
  let isBroken = false;
  const host = createEngineHost('builtin', (): EngineInstance => {
    instances++;
    const engine = createEngineInstance();
    return {
      ...engine,
      // The number of no set: the engine panics, as it would for a fault of its own.
      find: (set, text) => engine.find(isBroken ? 99 : set, text),
    };
  });
  const [one, other] = ['a+', 'b+'].map((regex) =>
    createPatternSet([{ id: 'it', regex }], 'builtin', host),
  );
  expect(one?.find('xaa')).toHaveLength(1);
  isBroken = true;
  expect(() => one?.find('xaa')).toThrow('the pattern engine stopped');
  isBroken = false;
  expect(one?.find('xaa')).toHaveLength(1);
  expect(other?.find('xbb')).toHaveLength(1);
  expect(instances).toBe(2);
});

it('replaces an engine that has grown', () => {
  const host = createEngineHost('tenant');
  const set = createPatternSet([{ id: 'end', regex: 'z\\z' }], 'tenant', host);
  const text = `${'é'.repeat(8 * MIB - 1)}z`;
  for (let i = 0; i < 3; i++) expect(set.hits(text)).toEqual(['end']);
  expect(host.memoryBytes()).toBeLessThanOrEqual(96 * MIB);
});
