/** Which test files may share a process (vitest.config.ts). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { APART } from '../vitest.config.ts';
import { readSourceTree } from './support/source-tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAY_SHARE = /^(control-plane|data-plane|shared|verifier|scripts|bench|tests)\/.*\.test\.ts$/;
/** What a file does to its process, and the next one would meet. */
const REPLACES = /\bvi\.(useFakeTimers|mock|doMock|stubEnv|stubGlobal)\(/;

it('a file that replaces the clock, a module or the environment has a process of its own', () => {
  const files = [...readSourceTree(root).lines.keys()].filter((path) => MAY_SHARE.test(path));
  const found = files.filter((path) => REPLACES.test(readFileSync(`${root}/${path}`, 'utf8')));
  expect(found.sort()).toEqual([...APART].sort());
});
