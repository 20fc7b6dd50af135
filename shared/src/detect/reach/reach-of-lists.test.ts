/** Which lists are things that a call changes: rows, values in SQL, requests, points of a chart. */
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';
import type { ReachCall } from './reach-finding.ts';

const find = createReachFinder(DEFAULT_BLAST_RADIUS);
const reach = createReach();
const many = <T>(count: number, one: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => one(at));
const rows = (count: number) => many(count, (at) => `(${at}, 'a, b', f(${at}, 1))`).join(', ');
const list = (count: number) => many(count, String).join(', ');

const BULK = ['escalate bulk_action'];

it.each([
  [`INSERT INTO t (key, value) VALUES ${rows(101)}`, BULK],
  [`insert into t values\n${rows(101)} ON CONFLICT DO NOTHING`, BULK],
  [`REPLACE INTO t VALUES ${rows(101)}`, BULK],
  [`INSERT INTO t VALUES ROW${rows(101).replaceAll('), (', '), ROW(')}`, BULK],
  [`INSERT INTO t VALUES ${rows(60)}; INSERT INTO t VALUES ${rows(60)}`, BULK],
  [`UPDATE t SET a = v.b FROM (VALUES ${rows(101)}) v WHERE v.a = t.id`, BULK],
  [`DELETE FROM t WHERE id IN (${list(101)})`, BULK],
  [`UPDATE t SET a = 1 WHERE b = 2 AND id in(${list(101)})`, BULK],
  [`DELETE FROM t WHERE id = ANY (ARRAY[${list(101)}])`, BULK],
  [`EXPLAIN ANALYZE DELETE FROM t WHERE id IN (${list(101)})`, BULK],
  [`INSERT INTO t VALUES ${rows(100)}`, []],
  [`INSERT INTO t VALUES ${rows(99)} ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)`, []],
  [`INSERT INTO t (${list(150)}) VALUES (${list(150)})`, []],
  [`DELETE FROM t WHERE id IN (${list(100)})`, []],
  [`SELECT a FROM t WHERE id IN (${list(300)})`, []],
  [`SELECT a FROM t WHERE id IN (${list(300)}); DELETE FROM t WHERE id IN (1, 2)`, []],
  [`SELECT * FROM (VALUES ${rows(300)}) v`, []],
  [`EXPLAIN DELETE FROM t WHERE id IN (${list(101)})`, []],
])('SQL that changes many rows: %.60s', (query, expected) => {
  expect(reach('query', 'execute', { query })).toEqual(expected);
  expect(reach('run_command', 'execute', { command: `psql -c "${query}"` })).toEqual(expected);
});

it('SQL that is only read changes nothing', () => {
  expect(
    reach('read_query', 'read', { query: `DELETE FROM t WHERE id IN (${list(101)})` }),
  ).toEqual([]);
});

const cells = (count: number) => many(count, (at) => [`name ${at}`, 'new', '0']);
const points = many(300, (at) => [at, at * 2]);

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['append_rows', 'write', { values: cells(101) }, BULK],
  ['append_rows', 'write', { values: cells(100) }, []],
  ['append_rows', 'write', { rows: cells(60) }, []],
  ['append_rows', 'write', { values: points }, BULK],
  ['update_sheet', 'write', { range: 'A1', data: cells(101) }, BULK],
  ['append_rows', 'write', { rows: [['a', '/etc/motd']] }, ['escalate config_path']],
  ['render_chart', 'write', { points }, []],
  ['render_chart', 'execute', { series: [{ name: 'a', data: points }] }, []],
  ['draw_polygon', 'write', { polygon: points }, []],
  ['upsert_vectors', 'write', { values: points }, []],
  ['delete_cells', 'delete', { cells: points }, BULK],
  ['update_users', 'write', { ids: points }, BULK],
  ['update_users', 'write', { ids: many(150, String), values: cells(100) }, BULK],
])('%s as %s counts its lists', (name, action, args, expected) => {
  expect(reach(name, action, args)).toEqual(expected);
});

const requests = (method: string, more = {}) =>
  many(130, (at) => ({ method, path: `/orders/${at}`, ...more }));
const variables = { ids: many(130, String) };

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['batch', 'execute', { requests: requests('GET') }, []],
  ['batch', 'execute', { requests: requests('head', { id: '1' }) }, []],
  ['batch', 'execute', { requests: requests('POST') }, BULK],
  [
    'batch',
    'execute',
    { requests: [...requests('GET'), { method: 'PATCH', path: '/orders/1' }] },
    BULK,
  ],
  ['batch', 'execute', { requests: requests('GET', { headers: { a: 'b' } }) }, BULK],
  [
    'batch',
    'execute',
    { requests: requests('GET', { url: 'https://a.example/b?_method=DELETE' }) },
    BULK,
  ],
  ['batch_delete', 'delete', { requests: requests('GET') }, BULK],
  [
    'graphql',
    'execute',
    { query: 'query($ids: [ID!]!) { users(ids: $ids) { name } }', variables },
    [],
  ],
  ['graphql', 'execute', { query: '# a\nquery Q @a { users { name } }', variables }, []],
  ['graphql', 'execute', { query: '{ users(ids: 1) { name } }', variables }, []],
  ['graphql', 'execute', { query: 'mutation($ids: [ID!]!) { a(ids: $ids) }', variables }, BULK],
  ['graphql', 'execute', { query: 'query A { a } mutation B { b }', variables }, BULK],
  ['graphql', 'execute', { query: '{ users { name } }', variables, ids: variables.ids }, BULK],
  ['graphql', 'execute', { query: '{"a": 1}', variables }, BULK],
])('%s as %s asks or changes', (name, action, args, expected) => {
  expect(reach(name, action, args)).toEqual(expected);
});

it('what is hostile takes no more time than what is as long', () => {
  for (const text of [
    'IN (',
    'VALUES (',
    'INSERT VALUES (1),',
    'DELETE a IN (1, ',
    'ARRAY[1,',
    "',",
  ]) {
    const began = cpuMs();
    reach('query', 'execute', { sql: `INSERT INTO t VALUES ${text.repeat(60_000 / text.length)}` });
    expect(cpuMs() - began, text).toBeLessThan(10_000);
  }
  for (const text of ['query ', '{ a', '#\n', ', ', ' ', '\n', 'a']) {
    const began = cpuMs();
    reach('graphql', 'execute', { query: `query ${text.repeat(60_000 / text.length)}`, variables });
    expect(cpuMs() - began, text).toBeLessThan(10_000);
  }
});

const rulesOf = (name: string, action: 'read' | 'execute', args: Record<string, unknown>) =>
  find({ name, action, args }).map(({ rule }) => rule);
const joined = (text: (at: number) => string, join: string) => many(150, text).join(join);

it.each([
  joined((at) => `INSERT INTO t VALUES (${at})`, ';\n'),
  joined((at) => `DELETE FROM t WHERE id = ${at}`, '; '),
  `DELETE FROM t WHERE ${joined((at) => `id = ${at}`, ' OR ')}`,
  `INSERT ALL ${joined((at) => `INTO t VALUES (${at})`, ' ')} SELECT 1 FROM dual`,
])('rows that statements without lists change are counted (%#)', (sql) => {
  expect(rulesOf('execute_sql', 'execute', { sql })).toEqual(['bulk_action']);
});

it.each([
  joined((at) => `SELECT a FROM t WHERE id = ${at}`, ';\n'),
  `SELECT a FROM t WHERE ${joined((at) => `id = ${at}`, ' OR ')}`,
  `EXPLAIN DELETE FROM t WHERE ${joined((at) => `id = ${at}`, ' OR ')}`,
])('statements that change nothing are not (%#)', (sql) => {
  expect(rulesOf('execute_sql', 'execute', { sql })).toEqual([]);
});

it('a search may match all', () => {
  const args = { index: 'logs', query: { match_all: {} } };
  expect(rulesOf('search', 'read', args)).toEqual([]);
  expect(rulesOf('update_by_query', 'execute', args)).toEqual(['delete_wildcard']);
});

it.each([
  'EXPLAIN ANALYSE DELETE FROM t',
  'EXPLAIN ANALYZE VERBOSE DELETE FROM t',
])('a plan that is run changes rows: %s', (sql) => {
  expect(rulesOf('execute_sql', 'execute', { sql })).toEqual(['sql_without_where']);
});

it('words for ssh beside a host are a command', () => {
  const args = { host: 'web', args: ['rm', '-rf', '/var'] };
  expect(rulesOf('ssh_exec', 'execute', args)).toEqual(['delete_depth']);
  expect(rulesOf('ssh_exec', 'execute', { host: 'web', args: ['ls', '/var'] })).toEqual([]);
});

describe('what a tool draws or reads is not changed', () => {
  const names = many(300, (at) => `n${at}`);
  const rows = names.map((name, at) => ({ name, value: at }));
  it.each([
    ['generate_line_chart', { data: rows }],
    ['create_chart', { categories: names, series: [{ name: 'a', data: rows }] }],
    ['render_table', { rows }],
    ['render_map', { markers: rows }],
    ['maps_distance_matrix', { origins: names, destinations: ['a'] }],
    ['search_documents', { ids: names }],
    ['add_heatmap_layer', { points: many(300, (x) => ({ x, y: 1, weight: 2 })) }],
  ])('%s', (name, args) => expect(rulesOf(name, 'execute', args)).toEqual([]));

  it.each([
    ['update_map_features', { ids: names }],
    ['map_users_to_group', { users: names }],
    ['search_and_archive', { ids: names }],
    ['assign_issues', { ids: names }],
    ['add_features', { features: rows }],
  ])('%s changes it', (name, args) => {
    expect(rulesOf(name, 'execute', args)).toEqual(['bulk_action']);
  });

  it('unless it is deleted', () => {
    const found = find({ name: 'delete_charts', action: 'delete', args: { ids: names } });
    expect(found.map(({ rule }) => rule)).toEqual(['bulk_action']);
  });
});

it('counts neither the styles of a range nor an age', () => {
  const styles = many(120, () => [{ font: { bold: true } }, null]);
  expect(reach('excel_format_range', 'delete', { range: 'A1:B120', styles })).toEqual([]);
  expect(reach('perform_auto_cleanup', 'delete', { max_age_hours: 240 })).toEqual([]);
  expect(reach('perform_auto_cleanup', 'delete', { max_files: 240 })).toEqual(BULK);
});
