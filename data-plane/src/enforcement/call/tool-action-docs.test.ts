import { readFileSync } from 'node:fs';
import { NOUNS, VERBS } from '@governance/shared/mcp/tool-words';
import { expect, it } from 'vitest';
import { deriveAction } from './tool-action.ts';

const PAGE = readFileSync(new URL('../../../../docs/tool-actions.md', import.meta.url), 'utf8');

function rowsOf(heading: string): string[][] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it('shows the words that the code has', () => {
  expect(rowsOf('Verbs')).toEqual(VERBS);
  expect(rowsOf('Words that are nouns as well')).toEqual(NOUNS);
});

const TOOLS = rowsOf('Tools of known servers');

it('shows the tools of ten servers and more', () => {
  expect(new Set(TOOLS.map(([server]) => server)).size).toBeGreaterThanOrEqual(10);
});

it.each(TOOLS)('%s: %s is %s', (_server, tool, action) => {
  expect(deriveAction((tool ?? '').replaceAll('`', ''), undefined)).toBe(action);
});
