/** Calls, commands and filters that stand within the arguments of a call, and stores that it names. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();

const ROOT = ['deny delete_depth', 'escalate config_path'];
const WHOLE = ['escalate delete_whole'];
const DROPPED = ['deny delete_whole'];
const ALL = ['escalate delete_wildcard'];

const deletes = (limit: number) => ({ delete: 'users', deletes: [{ q: {}, limit }] });
const updates = (multi: boolean) => ({ update: 'u', updates: [{ q: {}, u: {}, multi }] });

it.each<[unknown, string[]]>([
  [{ dropDatabase: 1 }, DROPPED],
  ['{"dropDatabase":1}', DROPPED],
  [[{ ping: 1 }, { dropDatabase: 1 }], DROPPED],
  [{ dropDatabase: false }, []],
  [{ drop: 'users' }, WHOLE],
  ['{"drop":"users"}', WHOLE],
  [deletes(0), ALL],
  [JSON.stringify(deletes(0)), ALL],
  [deletes(1), []],
  [{ delete: 'users', deletes: [{ q: { _id: 7 }, limit: 0 }] }, []],
  [updates(true), ALL],
  [updates(false), []],
  [{ aggregate: 'a', pipeline: [{ $match: {} }, { $out: 'users' }] }, WHOLE],
  [{ aggregate: 'a', pipeline: [{ $merge: { into: 'users' } }] }, WHOLE],
  [{ aggregate: 'a', pipeline: [{ $match: { a: 1 } }] }, []],
  [{ find: 'users' }, []],
  ['{"a": "$(rm -rf /)"}', ROOT],
])('a database runs the command %j', (command, expected) => {
  expect(reach('run_command', 'execute', { database: 'd', command })).toEqual(expected);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['aggregate', { collection: 'a', pipeline: [{ $out: { db: 'd', coll: 'users' } }] }, WHOLE],
  ['bulk_write', { operations: [{ deleteMany: { filter: {} } }] }, ALL],
  ['bulk_write', { operations: [{ deleteMany: { filter: { a: 1 } } }] }, []],
  ['bulk_write', { operations: [{ updateMany: { filter: { $or: [{}] }, update: {} } }] }, ALL],
  ['mongodb', { drop: 'users' }, WHOLE],
  ['transform', { steps: [{ drop: 'column' }] }, []],
  ['query', { query: "db.a.aggregate([{$match: {}}, {$out: 'users'}])" }, WHOLE],
  ['query', { query: "db.runCommand({drop: 'users'})" }, WHOLE],
  ['query', { query: 'db.adminCommand({ "dropDatabase": 1 })' }, DROPPED],
  ['query', { query: 'db.runCommand({ping: 1})' }, []],
])('%s with %j', (name, args, expected) => {
  expect(reach(name, 'execute', args)).toEqual(expected);
});

const deep = (levels: number): object => (levels === 0 ? { a: 1 } : { $and: [deep(levels - 1)] });

it.each<[unknown, boolean]>([
  [{}, true],
  [{ $or: [{}] }, true],
  [{ $or: [{ a: 1 }, { $and: [{}] }] }, true],
  [{ $and: [{}] }, true],
  [{ $nor: [] }, true],
  [{ _id: { $exists: true } }, true],
  [{ _id: { $ne: null } }, true],
  [{ a: { $nin: [] } }, true],
  [{ $expr: true }, true],
  [{ $comment: 'x' }, true],
  ['{"_id": {"$exists": true}}', true],
  ['*', true],
  ['', true],
  [deep(50), true],
  [{ _id: 7 }, false],
  [{ _id: { $exists: false } }, false],
  [{ a: { $exists: true } }, false],
  [{ $or: [{ a: 1 }, { b: 2 }] }, false],
  [{ $and: [{}, { a: 1 }] }, false],
  [{ _id: { $exists: true }, a: 1 }, false],
  [{ _id: { $ne: null, $gt: 7 } }, false],
  [{ a: {} }, false],
  [deep(5), false],
])('the filter %j matches everything: %s', (filter, isAll) => {
  const found = reach('delete-many', 'delete', { collection: 'c', filter });
  expect(found.some((one) => one.endsWith('delete_wildcard'))).toBe(isAll);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['drop-collection', { database: 'd', collection: 'users' }, WHOLE],
  ['delete_table', { table: 'users' }, WHOLE],
  ['delete_branch', { owner: 'o', repo: 'r', branch: 'main' }, WHOLE],
  ['deleteNamespace', { name: 'prod' }, WHOLE],
  ['delete_project_by_id', { project_id: '1' }, WHOLE],
  ['delete_log_group', { group: 'g' }, WHOLE],
  ['stack.delete', { stack: 'prod' }, WHOLE],
  ['delete_index', { name: 'products' }, WHOLE],
  ['purge_queue', { queue: 'q' }, WHOLE],
  ['delete_topics', { names: ['a'] }, WHOLE],
  ['delete_table_from_database', { table: 'users' }, WHOLE],
  ['delete_indices', { index: '_all' }, ['deny delete_wildcard', ...WHOLE]],
  ['delete_documents', { index: ['a', '_all'] }, ['deny delete_wildcard']],
  ['http_delete', { url: 'http://es:9200/_all?pretty' }, ALL],
  ['http_delete', { url: 'http://es:9200/logs/_doc/1' }, []],
  ['kubectl_delete', { resourceType: 'namespace', name: 'prod' }, WHOLE],
  ['kubectl_delete', { resourceType: 'pod', name: 'one' }, []],
  ['delete_resource', { kind: 'Project', name: 'p' }, WHOLE],
  ['manage', { operation: 'drop_table', table: 't' }, WHOLE],
  ['manage_project', { operation: 'delete', project_id: '1' }, WHOLE],
  ['manage_project', { operation: 'remove_member', project_id: '1' }, []],
  ['update_project', { operation: 'delete', label: 'l' }, []],
  ['delete_group_member', { group_id: '1', user_id: '2' }, []],
  ['remove_label_from_project', { label: 'l', project: 'p' }, []],
  ['remove_project_from_favorites', { project: 'p' }, []],
  ['delete_branch_protection_rule', { branch: 'main' }, []],
  ['delete_table_rows', { table: 't', ids: ['1'] }, []],
  ['unlink_repository', { repository: 'r' }, []],
  ['drop_index', { index: 'i' }, []],
  ['delete_index', { collection: 'c', index: 'i' }, []],
  ['delete_label', { resource_type: 'project', label: 'l' }, []],
  ['pop_queue', { queue: 'q' }, []],
])('%s deletes with %j', (name, args, expected) => {
  expect(reach(name, 'delete', args)).toEqual([...expected].sort());
});

const call = (tool: string, args: unknown) => ({ calls: [{ tool, args }] });

it.each<[ReachCall['args'], string[]]>([
  [call('delete_file', { path: '/' }), ROOT],
  [call('delete_file', '{"path": "/"}'), ROOT],
  [{ calls: [{ name: 'delete_file', arguments: { path: '/' } }] }, ROOT],
  [{ tool_name: 'delete_file', parameters: { path: '/' } }, ROOT],
  [{ calls: [{ type: 'function', function: { name: 'rm', arguments: '{"path":"/"}' } }] }, ROOT],
  [call('batch', call('delete_file', { path: '/' })), ROOT],
  [
    { cwd: '/', path: 'x', ...call('delete_file', { path: '*' }) },
    ['deny delete_wildcard', 'escalate config_path'],
  ],
  [call('bash', { code: 'rm -rf /' }), ROOT],
  [call('delete_directory', { path: '/srv/a', recursive: true }), ['escalate delete_depth']],
  [call('move_file', { source: '/srv', destination: '/tmp/a/b' }), ['deny delete_depth']],
  [call('delete-many', { collection: 'c' }), ALL],
  [call('drop_database', { name: 'd' }), WHOLE],
  [call('git_push', { force: true }), WHOLE],
  [{ operations: [{ operation: 'delete', path: '/' }] }, ROOT],
  [{ operations: [{ action: 'remove', target: { path: '/' } }] }, ROOT],
  [
    {
      operations: [
        { operation: 'write', path: '/srv/a' },
        { method: 'drop', path: '/' },
      ],
    },
    ROOT,
  ],
  [{ command: 'delete', path: '/' }, ROOT],
  [{ command: 'rm', path: '/' }, []],
  [{ command: 'remove-item /srv/a/b', log_file: '/log' }, []],
  [call('read_file', { path: '/' }), []],
  [call('search', { query: 'DELETE FROM users' }), ['escalate sql_without_where']],
  [call('create_file', { path: '/srv/a/b', content: 'rm -rf /' }), []],
  [{ calls: [{ tool: 'delete_file', args: { path: '/srv/a/b' } }, { path: '/tmp' }] }, []],
  [{ patch: [{ op: 'remove', path: '/spec' }] }, []],
  [{ patch: [{ op: 'remove', path: '/' }] }, ROOT],
  [{ patch: [{ op: 'remove', path: '/srv', recursive: true }] }, ['deny delete_depth']],
  [{ rules: [{ action: 'delete', resource: '*', allow: false }] }, []],
  [{ operations: [{ action: 'delete', path: '/', effect: 'allow' }] }, ROOT],
  [call('delete_file', { path: '/', type: 'object', properties: {} }), ROOT],
  [{ statements: [{ effect: 'Deny', action: 'delete', resource: '*' }] }, []],
  [
    {
      tools: [
        {
          name: 'delete_project',
          parameters: { type: 'object', properties: { path: { default: '/' } } },
        },
      ],
    },
    [],
  ],
])('a batch of %j', (args, expected) => {
  expect(reach('batch', 'execute', args)).toEqual([...expected].sort());
});

it('what a reading tool looks for is no call', () => {
  expect(reach('search', 'read', call('delete_file', { path: '/' }))).toEqual([]);
});

it.each<[string, unknown, string[]]>([
  ['run', { query: { text: 'DELETE FROM users', values: [1] } }, ['escalate sql_without_where']],
  ['run', { statements: [{ text: 'DROP DATABASE d' }] }, ['deny sql_without_where']],
  ['run', { query: { text: 'DELETE FROM users WHERE id = $1', values: [1] } }, []],
  ['run', { query: { match: { text: 'DELETE FROM users' } } }, []],
  ['search', { query: { text: 'DELETE FROM users' } }, []],
  ['run', { post: { text: 'DELETE FROM users' } }, []],
])('%s has a text below SQL: %j', (name, args, expected) => {
  expect(reach(name, 'execute', args as ReachCall['args'])).toEqual(expected);
});

it.each<[ReachCall['args'], string[]]>([
  [{ path: '' }, ['deny delete_depth']],
  [{ paths: ['/srv/a/b', ' '] }, ['deny delete_depth']],
  [{ directory: '' }, ['deny delete_depth']],
  [{ operations: [{ action: 'remove', path: '' }] }, ['deny delete_depth']],
  [{ path: '', cwd: '/srv/a/b' }, []],
  [{ owner: 'o', repo: 'r', path: '' }, []],
  [{ path: '/srv/a/b', source: '', file: '' }, []],
])('a delete of %j', (args, expected) => {
  expect(reach('delete_file', 'delete', args)).toEqual(expected);
});

it('an empty path of a call that deletes nothing is none', () => {
  expect(reach('list_directory', 'read', { path: '' })).toEqual([]);
  expect(reach('create_file', 'write', { path: '' })).toEqual([]);
});

it('calls within calls take time that is linear in their length', () => {
  const nested = (levels: number): object =>
    levels === 0 ? { path: '/' } : { tool: 'delete_x', args: nested(levels - 1) };
  const wide = Array.from({ length: 20_000 }, () => ({ tool: 'delete_x', args: { a: 'b' } }));
  const began = cpuMs();
  expect(reach('batch', 'execute', { nested: nested(500) })).toContain('deny delete_depth');
  reach('batch', 'execute', { wide });
  expect(cpuMs() - began).toBeLessThan(5_000);
});
