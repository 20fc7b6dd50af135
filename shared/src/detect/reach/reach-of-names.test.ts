/** Files, things and filters that are named in forms of their own. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach({
  ...DEFAULT_BLAST_RADIUS,
  protected_file_patterns: ['*.env', '*.key', '**/.git/hooks/**'],
});

const PROTECTED = ['deny protected_file'];
const BULK = ['escalate bulk_action'];
const ALL = ['escalate delete_wildcard'];
const content = 'A=1';

it.each<[string, ReachCall['args'], string[]]>([
  ['push_files', { files: [{ name: '.env', content }] }, PROTECTED],
  ['push_files', { files: [{ filename: '.env', content }] }, PROTECTED],
  ['create_files', { files: [{ file_name: '.env', content }] }, PROTECTED],
  ['create_files', { files: [{ fileName: '.env', content }] }, PROTECTED],
  ['create_gist', { files: { '.env': { content } } }, PROTECTED],
  ['create_gist', { files: { 'a.md': { content }, 'b.key': { content } } }, PROTECTED],
  ['update_snippet', { files: { '.env': content } }, PROTECTED],
  ['write', { file_name: '.env', content }, PROTECTED],
  ['create_file', { directory: '/srv/a', name: '.env', content }, PROTECTED],
  ['create_file', { dir: '/srv/a', name: '.env', content }, PROTECTED],
  ['create_file', { folder: '/srv/a', filename: '.env', content }, PROTECTED],
  ['create_files', { folder: 'a', files: [{ name: '.env', content }] }, PROTECTED],
  ['write_file', { folder: 'a/.git/hooks', name: 'pre-commit', content }, PROTECTED],
  ['write_file', { folder: 'a/.git/hooks', filename: 'pre-commit', content }, PROTECTED],
  ['create_gist', { files: { 'a.md': { content: 'see .env' } } }, []],
  ['create_gist', { description: 'a.key', files: { 'a.md': { content } } }, []],
  ['push_files', { files: [{ path: 'a.md', content: '.env' }] }, []],
  ['create_key', { name: 'ssh.key', content }, []],
  ['create_issue', { title: 'a.key', labels: [{ name: 'x.env' }] }, []],
  ['send_email', { files: [{ name: 'a.key', content }] }, []],
])('files that %s writes by their names (%#)', (name, args, found) => {
  expect(reach(name, 'write', args)).toEqual(found);
});

it('files that are only named', () => {
  const args = { folder: 'a', files: [{ name: '.env', content }] };
  expect(reach('get_gist', 'read', args)).toEqual([]);
});

it.each<[ReachCall['args'], string[]]>([
  [{ where: '1=1' }, ALL],
  [{ where: ' 1 = 1 -- all' }, ALL],
  [{ where: 'true' }, ALL],
  [{ where: 'TRUE' }, ALL],
  [{ where: '1' }, ALL],
  [{ where: "'a' = 'a' OR id = 7" }, ALL],
  [{ filter: 'true' }, ALL],
  [{ condition: 'id IS NOT NULL' }, ALL],
  [{ query: '1=1' }, ALL],
  [{ query: { bool: {} } }, ALL],
  [{ query: { bool: { must: [] } } }, ALL],
  [{ query: { bool: { filter: { match_all: {} } } } }, ALL],
  [{ query: { bool: { must: { exists: { field: '_id' } } } } }, ALL],
  [
    { body: { query: { bool: { should: [{ exists: { field: '_id' } }, { term: { a: 1 } }] } } } },
    ALL,
  ],
  [{ query: { exists: { field: '_id' } } }, ALL],
  [{ query: { query_string: { query: '*' } } }, ALL],
  [{ query: { constant_score: { filter: { exists: { field: '_id' } } } } }, ALL],
  [{ selector: { matchLabels: {} } }, ALL],
  [{ selector: { matchLabels: {}, matchExpressions: [] } }, ALL],
  [{ label_selector: '' }, ALL],
  [{ where: 'id = 7' }, []],
  [{ where: '1=1 AND id = 7' }, []],
  [{ where: 'false' }, []],
  [{ where: 'active' }, []],
  [{ filter: '12' }, []],
  [{ query: 'true' }, []],
  [{ query: 'from:a@example.com' }, []],
  [{ query: { bool: { must: [{ term: { a: 1 } }] } } }, []],
  [{ query: { bool: { filter: [{ exists: { field: '_id' } }, { term: { a: 1 } }] } } }, []],
  [{ query: { bool: { must_not: [{ exists: { field: 'a' } }] } } }, []],
  [{ query: { bool: { should: [{ term: { a: 1 } }] } } }, []],
  [{ query: { exists: { field: 'a' } } }, []],
  [{ query: { query_string: { query: 'a*' } } }, []],
  [{ selector: { matchLabels: { app: 'a' } } }, []],
  [{ selector: { matchLabels: {}, name: 'a' } }, []],
  [{ label_selector: 'app=a' }, []],
])('the filter of a delete: %j', (args, found) => {
  expect(reach('delete_documents', 'delete', { index: 'a', ...args })).toEqual(found);
});

it('a filter of what is only read or changed one by one', () => {
  expect(reach('list_rows', 'read', { where: '1=1' })).toEqual([]);
  expect(reach('update_row', 'write', { table: 'a', where: '1=1' })).toEqual([]);
});

it.each([
  ['conditions', (size: number) => ({ where: `${'('.repeat(size)}1=1` })],
  ['many conditions', (size: number) => ({ filters: Array(size).fill({ where: '1=1 OR 2=2' }) })],
])('reads %s in linear time', (_what, make) => {
  const began = cpuMs();
  for (const size of [4_000, 100_000]) reach('delete_rows', 'delete', make(size));
  expect(cpuMs() - began).toBeLessThan(5_000);
});

const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at));
const uuids = numbers(120).map((at) => `${at.padStart(8, '0')}-aaaa-bbbb-cccc-dddddddddddd`);
const prose = `we have ${'seen the 3 last orders '.repeat(150)}`;

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['delete_records', 'delete', { ids: numbers(120).join(' ') }, BULK],
  ['delete_records', 'delete', { ids: numbers(120).join('\t') }, BULK],
  ['delete_records', 'delete', { ids: numbers(120).join('; ') }, BULK],
  ['delete_records', 'delete', { ids: numbers(120).join('\r\n') }, BULK],
  ['delete_records', 'delete', { ids: `all of ${numbers(120).join(' ')}` }, BULK],
  ['delete_records', 'delete', { record_ids: uuids.join(' ') }, BULK],
  ['delete_records', 'delete', { records: uuids.join('\n ') }, BULK],
  ['update_records', 'write', { ids: uuids.join(' ') }, BULK],
  ['delete_records', 'delete', { ids: numbers(100).join(' ') }, []],
  ['delete_records', 'delete', { ids: numbers(100).join(' , ') }, []],
  ['delete_records', 'delete', { ids: prose }, []],
  ['delete_message', 'delete', { id: '1', note: numbers(120).join(' ') }, []],
  ['update_record', 'write', { rows: numbers(120).join(' ') }, []],
  ['list_records', 'read', { ids: numbers(120).join(' ') }, []],
])('things that %s names in one text (%#)', (name, action, args, found) => {
  expect(reach(name, action, args)).toEqual(found);
});
