/** Documents link to each other by file and heading; one that was renamed would leave a dead end. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';
import { expect, it } from 'vitest';
import { readSourceTree } from './support/source-tree.ts';

const FENCED = /^(```|~~~).*?^\1/gms;
const LINK = /\]\(([^()\s]+)\)/g;
const HEADING = /^#{1,6} (.+)$/gm;
/** A page that a message, a setting or a comment names; tests name pages that are none. */
const PAGE = /(?<![\w/])docs\/[\w/-]+\.md(?:#[\w-]+)?/g;

const documents = [
  'README.md',
  'CHANGELOG.md',
  ...['docs', 'docker', 'bench', 'policies'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
];

/** A heading's anchor, as the usual viewers make it of its text. */
function anchorOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function anchorsIn(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(FENCED, '').matchAll(HEADING)) {
    const anchor = anchorOf(heading);
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

/** @param target a path from the project's root, with or without `#` and a heading's anchor */
function isDead(target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const absolute = join(projectRoot, file);
  if (!existsSync(absolute)) return true;
  if (anchor === undefined || !file.endsWith('.md')) return false;
  return !anchorsIn(readFileSync(absolute, 'utf8')).has(anchor);
}

/** Links of a document that lead nowhere. */
function deadEnds(path: string, text: string): string[] {
  return [...text.replace(FENCED, '').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .filter((target) =>
      isDead(target.startsWith('#') ? path + target : join(dirname(path), target)),
    );
}

it('every link between documents leads to a file and a heading', () => {
  const dead = documents.flatMap((path) =>
    deadEnds(path, readFileSync(join(projectRoot, path), 'utf8')).map((to) => `${path}: ${to}`),
  );
  expect(dead).toEqual([]);
});

it('every page that the code names is there', () => {
  const sources = [...readSourceTree(projectRoot).lines.keys()].filter(
    (path) => !path.endsWith('.test.ts'),
  );
  const dead = sources.flatMap((path) =>
    [...readFileSync(join(projectRoot, path), 'utf8').matchAll(PAGE)]
      .filter(([page]) => isDead(page))
      .map(([page]) => `${path}: ${page}`),
  );
  expect(dead).toEqual([]);
});

it.each([
  ['a file that is gone', '[a](docs/gone.md)'],
  ['a heading that is gone', '[a](docs/operations.md#gone)'],
  ['a heading of its own that is gone', '# Here\n[a](#there)'],
])('finds %s', (_what, text) => {
  expect(deadEnds('README.md', text)).toHaveLength(1);
});
