/**
 * What is exported looks like a promise to other files, so a value that no other file names is not
 * exported. Types may be: they are part of the signatures of what is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readSourceTree } from './support/source-tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A value's export at the beginning of a line, as Biome formats it. */
const EXPORTED = /^export (?:async )?(?:const|let|function|class) (\w+)/gm;
const IS_PRODUCTION = /^(?:shared|policies|verifier|control-plane|data-plane)\/src\//;
const IS_TEST = /\.test\.ts$|\/testing\//;

/** What is exported all the same, for a reason. */
const EXCEPTIONS = new Set([
  // The schemas of wire formats stand together, whoever reads them.
  'shared/src/channel/facts.ts',
  'shared/src/evidence/evidence-keys.ts',
  'shared/src/evidence/evidence-package.ts',
]);

/** Known, to be mended with the next change of their files. None may be added. */
const KNOWN: readonly string[] = [
  'shared/src/detect/dlp/decode/gates.ts: SHORT_WORDS',
  'shared/src/detect/inbound/concepts.ts: CLASS_OF_CONCEPT',
  'shared/src/detect/inbound/concepts.ts: FORMAL_CONCEPTS',
  'shared/src/detect/inbound/concepts.ts: LEXICAL_CONCEPTS',
  'shared/src/detect/inbound/model.ts: readWeights',
];

/** @returns `path: name` of each value that only its own file names */
function findUnused(texts: ReadonlyMap<string, string>): string[] {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    for (const [word] of text.matchAll(/\w+/g)) {
      const found = files.get(word) ?? new Set();
      files.set(word, found.add(path));
    }
  }
  return [...texts].flatMap(([path, text]) => {
    if (!IS_PRODUCTION.test(path) || IS_TEST.test(path) || EXCEPTIONS.has(path)) return [];
    const names = [...text.matchAll(EXPORTED)].map(([, name = '']) => name);
    return names.filter((name) => files.get(name)?.size === 1).map((name) => `${path}: ${name}`);
  });
}

it('no value is exported that no other file names', () => {
  const scripts = readdirSync(join(root, 'scripts'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => join('scripts', name));
  const paths = [...readSourceTree(root).lines.keys(), ...scripts];
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  expect(findUnused(texts).filter((one) => !KNOWN.includes(one))).toEqual([]);
});

it('finds one that is planted, and none that another file names', () => {
  const texts = new Map([
    ['shared/src/a.ts', 'export const LIMIT = 1;\nexport function used() {}\nexport type T = 1;\n'],
    ['shared/src/b.ts', "import { used } from './a.ts';\n"],
  ]);
  expect(findUnused(texts)).toEqual(['shared/src/a.ts: LIMIT']);
});
