/** An operator finds what to do by the version that runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';
import { readVersion } from '@governance/shared/process/version';
import { expect, it } from 'vitest';

const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8');
const [, ...sections] = changelog.split(/^## /m);
const HEADING = /^(\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}-\d{2}\): \S/;
const numbers = sections.map((section) => HEADING.exec(section)?.slice(1).map(Number));

it('begins with the version that the service names', () => {
  expect(numbers[0]?.join('.')).toBe(readVersion());
});

it('has a number, a date and a title for each version, the newest first', () => {
  expect(numbers).not.toContain(undefined);
  const minors = numbers.map((number) => number?.[1]);
  expect(minors).toEqual(minors.map((_, index) => minors.length - index));
});

it('says for each version what an operator must do', () => {
  const silent = sections.filter((section) => !/^\*+What you must do\*+$/m.test(section));
  expect(silent.map((section) => section.split('\n')[0])).toEqual([]);
});
