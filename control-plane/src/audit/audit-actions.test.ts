/** docs/audit-and-alerts.md lists the actions of the audit trail; auditors filter by these names. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const sources = fileURLToPath(new URL('..', import.meta.url));
const page = new URL('../../../docs/audit-and-alerts.md', import.meta.url);

/** Where an action is named: in an audit record, or by the function that makes one of its name. */
const NAMED = [
  /\baction: '(\w+)',?\s+target\b/g,
  /\baction: (?:[\w.]+ \? )?'(\w+)'(?:, target| : )/g,
  /\baction: [\w.]+ \? '\w+' : '(\w+)'/g,
  /\bauditOf\('(\w+)'/g,
  /\baudit\(tx, '(\w+)'/g,
  /\bappendChange\(tx, \w+, '(\w+)'/g,
  /\breturn (?:before === 'archived' \? )?'(policy_\w+)'/g,
];

const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
  (name) =>
    name.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing\/|^platform\/generated\//.test(name),
);
const code = files.map((name) => readFileSync(join(sources, name), 'utf8')).join('\n');

function listed(): string[] {
  const text = readFileSync(page, 'utf8');
  const [, section = ''] = /\n### Administrators' actions\n([\s\S]*?)\n## /.exec(text) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const actions = rows.flatMap((row) => (row.split('|')[2] ?? '').match(/(?<=`)\w+(?=`)/g) ?? []);
  return actions.filter((name) => name !== 'alert');
}

it('lists every action that the code names', () => {
  const named = NAMED.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(60);
  const known = new Set(listed());
  expect([...new Set(named)].filter((name) => !known.has(name ?? ''))).toEqual([]);
});

it('lists no action that the code does not name', () => {
  const prefixes = [...code.matchAll(/\baction: `(\w+_)\$\{/g)].map(([, prefix]) => prefix ?? '');
  const isNamed = (name: string) =>
    code.includes(`'${name}'`) || prefixes.some((prefix) => name.startsWith(prefix));
  // Defined beside the records that verifiers read.
  const shared = ['record_disputed'];
  expect(listed().filter((name) => !isNamed(name) && !shared.includes(name))).toEqual([]);
});
