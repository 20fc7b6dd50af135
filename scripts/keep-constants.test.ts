import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
// @ts-expect-error: the build script is plain JavaScript
import { keepConstants } from './keep-constants.mjs';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'constants-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function kept(code: string): Promise<string> {
  const path = join(folder, 'bundle.js');
  writeFileSync(path, code);
  await keepConstants(path);
  return readFileSync(path, 'utf8');
}

it.each([
  ['a table', 'var kinds = new Uint8Array(128);\n', 'const kinds=new Uint8Array(128);\n'],
  [
    'names of members',
    'var { steps, whole: all } = table;\n',
    'const { steps, whole: all }=table;\n',
  ],
  ['names of items', 'var [one, two] = [1, 2];\n', 'const [one, two]=[1, 2];\n'],
])('writes %s as a constant, in as many columns', async (_what, code, constant) => {
  expect(await kept(code)).toBe(constant);
  expect(constant.length).toBe(code.length);
});

it.each([
  ['is assigned to', 'var shared = 1;\nfunction begin() {\n  shared = 2;\n}\n'],
  ['is counted up', 'var passages = 0;\nfunction next() {\n  passages += 1;\n}\n'],
  ['is one of several that are assigned to', 'var [last, at] = [0, 0];\nat++;\n'],
  ['is assigned to in a pattern', 'var sum = 0;\n({ sum } = other);\n'],
  ['has no value yet', 'var loaded;\n'],
  ['stands in a function', 'function one() {\n  var two = 2;\n  return two;\n}\n'],
])('leaves what %s', async (_what, code) => {
  expect(await kept(code)).toBe(code);
});

it('distinguishes two of the same name only as far as is safe', async () => {
  const code = 'var count = 1;\nfunction one(count) {\n  count = 2;\n  return count;\n}\n';
  expect(await kept(code)).toBe(code.replace('var count = ', 'const count='));
});
