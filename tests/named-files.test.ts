/** Comments and documents that name a file which is gone mislead whoever looks for the proof. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findUnknownNames } from './support/named-files.ts';
import { readSourceTree } from './support/source-tree.ts';

/** What is named and rightly has no file, with its reason beside it. None yet. */
const EXCEPTIONS: readonly string[] = [];

/** Its own planted names are not meant. */
const SELF = 'tests/named-files.test.ts';
const root = fileURLToPath(new URL('..', import.meta.url));

const listed = (folder: string, end: string, isDeep: boolean): string[] =>
  readdirSync(join(root, folder), { recursive: isDeep, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

it('every file that a comment or a document names exists', () => {
  const sources = [
    ...readSourceTree(root).lines.keys(),
    ...listed('prisma', '.ts', true),
    ...listed('.', '.ts', false),
  ];
  // Migrations are left out: a merged one never changes, whatever becomes of what it names. So is
  // the changelog, which tells of what was.
  const documents = [...listed('docs', '.md', true), 'README.md', 'prisma/schema.prisma'];
  const texts = [...sources, ...documents]
    .filter((path) => path !== SELF)
    .map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')]);
  expect(findUnknownNames(new Map(texts), sources).sort()).toEqual([...EXCEPTIONS].sort());
});

it.each([
  ['a comment of lines', 'a.ts', '// Proven by gone.test.ts.'],
  ['a comment of a block', 'a.ts', '/**\n * Proven by gone.test.ts.\n */'],
  ['a comment behind code', 'a.ts', 'const a = 1; // gone.test.ts'],
  ['a document', 'docs/a.md', 'the files (`gone.test.ts`)'],
  ['the folder of another file', 'docs/a.md', '`gone/a.ts`'],
  ['a pattern that no file matches', 'docs/a.md', '`gone*.ts`'],
])('a name without a file is found in %s', (_what, path, text) => {
  expect(findUnknownNames(new Map([[path, text]]), ['x/a.ts', 'x/b.ts'])).toHaveLength(1);
});

it.each([
  ['a name alone', '/** See b.test.ts. */'],
  ['a name with folders', '/** See `x/b.test.ts`, ../x/b.test.ts and ./b.test.ts. */'],
  ['a pattern', '/** Proven by b*.ts and *.test.ts. */'],
  ['code', "import { gone } from './gone.ts';\nconst at = event.ts;"],
  ['an address', "const at = 'https://example.org/gone.ts';"],
])('nothing is found in %s', (_what, text) => {
  expect(findUnknownNames(new Map([['a.ts', text]]), ['x/b.test.ts'])).toEqual([]);
});
