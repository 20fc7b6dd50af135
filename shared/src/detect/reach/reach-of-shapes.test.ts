/** Arguments in forms of their own: patches, modules, bulk requests, graphs, one of several operations. */
import { expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reachOf = createReach();
const reach = (name: string, args: ReachCall['args'], action: ReachCall['action'] = 'execute') =>
  reachOf(name, action, args);

const many = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
const people = many(60, (at) => `p${at}@example.com`);
const ids = many(150, (at) => `id-${at}`);
const pairs = Object.fromEntries(ids.map((id) => [id, 'on']));
const bulk = (count: number) => many(count, (at) => `{"index":{"_id":${at}}}\n{"a":1}`).join('\n');
const mutation = (count: number) =>
  `mutation { ${many(count, (at) => `a${at}: closeIssue(input: {id: "${at}"}) { id }`).join(' ')} }`;

const CONFIG = ['escalate config_path'];
const BULK = ['escalate bulk_action'];
const MAIL = ['escalate email_recipients'];
const SQL = ['escalate sql_without_where'];

it.each([
  ['ansible', { module: 'file', args: 'path=/srv state=absent' }, ['deny delete_depth']],
  ['ansible', { module: 'copy', args: 'src=a dest=/etc/hosts' }, CONFIG],
  ['ansible', { module: 'lineinfile', args: { path: '/etc/hosts', line: 'a' } }, CONFIG],
  ['ansible', { module: 'shell', args: 'rm -rf /srv' }, ['deny delete_depth']],
  ['ansible', { module: 'copy', args: 'src=a dest=/srv/a/b/c' }, []],
  ['ansible', { module: 'setup', args: 'filter=/etc/x' }, []],
  [
    'apply_patch',
    { input: '*** Begin Patch\n*** Update File: a/b.pem\n@@' },
    ['deny protected_file'],
  ],
  ['apply_patch', { patch: '--- a/x\n+++ b/x/y.pem\n@@ -1 +1 @@\n' }, ['deny protected_file']],
  ['apply_patch', { input: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n+rm b.pem' }, []],
  ['write_cypher', { query: 'MATCH (n) DETACH DELETE n' }, SQL],
  ['write_cypher', { query: 'MATCH (n:Old) DELETE n' }, SQL],
  ['write_cypher', { query: 'MATCH (n:Old {id: 1}) DELETE n' }, []],
  ['write_cypher', { query: 'MATCH (n) WHERE n.id = 1 DETACH DELETE n' }, []],
  ['graphql', { query: mutation(120) }, BULK],
  ['graphql', { query: mutation(90) }, []],
  ['bulk', { body: bulk(120) }, BULK],
  ['bulk', { body: bulk(90) }, []],
  ['mset', { pairs }, BULK],
  ['call', { args: ['DEL', ...ids] }, BULK],
  ['es_request', { method: 'POST', path: '/a/_mget', body: { ids } }, []],
  ['es_request', { method: 'POST', path: '/a/_update', body: { ids } }, BULK],
  ['es_request', { method: 'GET', path: '/a/_search', query: { match_all: {} } }, []],
  ['open_nodes', { names: ids }, []],
  ['modify', { messageIds: ids.slice(0, 100), removeLabelIds: ['UNREAD'] }, []],
  ['batch', { requests: [{ op: 'read', path: '/etc/hosts' }] }, []],
  ['batch', { requests: [{ op: 'write', path: '/etc/hosts' }] }, CONFIG],
  ['batch', { requests: [{ op: 'read', action: 'write', path: '/etc/hosts' }] }, CONFIG],
  ['text_editor', { command: 'view', path: '/etc/hosts', view_range: [1, 9] }, []],
  ['text_editor', { command: 'view', path: '/etc/hosts', file_text: 'a' }, CONFIG],
  ['text_editor', { command: 'create', path: '/etc/hosts' }, CONFIG],
  ['write_file', { action: 'read', path: '/etc/hosts' }, CONFIG],
  ['save', { action: 'read', path: '/etc/hosts' }, CONFIG],
  ['execute', { language: 'python', code: "shutil.rmtree('/srv')" }, ['deny delete_depth']],
  ['execute', { language: 'bash', code: 'rm -rf /srv' }, ['deny delete_depth']],
  ['sh', { line: 'rm -rf /srv' }, ['deny delete_depth']],
  ['run_script', { script: '"select disk 2`nclean" | diskpart' }, ['deny delete_whole']],
  ['run_script', { script: '"list disk" | diskpart' }, []],
])('%s (%#)', (name, args, found) => expect(reach(name, args)).toEqual(found));

it.each([
  ['run_python', { code: `import smtplib\nto = ${JSON.stringify(people)}` }, MAIL],
  ['run_command', { command: `Send-MailMessage -To ${people.join(',')}` }, MAIL],
  ['run_command', { command: `curl https://api.sendgrid.com/v3/mail/send -d '${people}'` }, MAIL],
  ['run_command', { command: `grep -E '${people.join('|')}' access.log` }, []],
  [
    'create_notification',
    { include_subscription_ids: ids },
    ['escalate bulk_action', ...MAIL].slice(1),
  ],
  ['create_gist', { files: { 'to.txt': people.join('\n') } }, []],
  ['hubspot-search-objects', { filters: [{ values: people }] }, []],
  ['search_and_forward', { to: people }, MAIL],
])('recipients of %s (%#)', (name, args, found) => expect(reach(name, args)).toEqual(found));

it('a module that a tool only tells about is not run', () => {
  expect(reach('list_modules', { module: 'shell', args: 'rm -rf /srv' }, 'read')).toEqual([]);
});

it('what is read and what is deleted', () => {
  const query = { match_phrase: { cmd: 'rm -rf /' } };
  expect(reach('search', { index: 'audit', query }, 'read')).toEqual([]);
  expect(reach('wipe_device', { id: 'a' }, 'delete')).toEqual(['escalate delete_whole']);
  expect(reach('empty_trash', {}, 'delete')).toEqual(['escalate delete_wildcard']);
  expect(reach('delete_all_emails', { folder: 'a' }, 'delete')).toEqual([
    'escalate delete_wildcard',
  ]);
  expect(reach('delete_all_emails', { from: 'a' }, 'delete')).toEqual([]);
  const queue = { vhost: '/', queue: 'reply.1' };
  expect(reach('delete_queue', { ...queue, if_empty: true }, 'delete')).toEqual([]);
  expect(reach('delete_queue', queue, 'delete')).toEqual(['escalate delete_whole']);
});
