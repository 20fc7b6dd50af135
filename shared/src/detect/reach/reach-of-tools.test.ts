/** Names of arguments, wrappers and tools under which the same reach is found. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();
const people = (count: number) => Array.from({ length: count }, (_, i) => `p${i}@example.com`);
const keyed = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, {}]));

const ROOT = ['deny delete_depth', 'escalate config_path'];
const WHOLE = ['escalate delete_whole'];
const ALL = ['escalate delete_wildcard'];
const SQL = ['escalate sql_without_where'];
const MAIL = ['escalate email_recipients'];
const CONFIG = ['escalate config_path'];

it.each([
  [{ command_line: 'rm -rf /' }, ROOT],
  [{ commandLine: 'rm -rf /' }, ROOT],
  [{ commandline: 'rm -rf /' }, ROOT],
  [{ command_string: 'rm -rf /' }, ROOT],
  [{ script_to_run: 'rm -rf /' }, ROOT],
  [{ program: 'rm', args: ['-rf', '/'] }, ROOT],
  [{ command: 'rm', args: '-rf /' }, ROOT],
  [{ command_id: 'rm -rf /' }, []],
  [{ text: 'rm -rf /', description: 'of the command' }, []],
  [{ line: 'rm -rf /' }, []],
])('a process is started with %o', (args, expected) => {
  expect(reach('start_process', 'execute', args)).toEqual(expected);
});

it.each([
  ["ssh host 'rm -rf /'", ROOT],
  ["ssh -p 22 -i key me@host -t 'cd /srv && rm -rf /'", ROOT],
  ['ssh host rm "-rf /"', ROOT],
  ["sudo ssh host 'rm -rf /'", ROOT],
  ["su -c 'rm -rf /'", ROOT],
  ["su - root --command='rm -rf /'", ROOT],
  ["sudo su root -c'rm -rf /'", ROOT],
  ["watch -n 5 'rm -rf /'", ROOT],
  ["script -qc 'rm -rf /' log", ROOT],
  ['runuser -u www -- rm -rf /', ROOT],
  ['sudo docker exec -it a rm -rf /', ROOT],
  ['env A=1 timeout 5 docker exec mongo rm -rf /', ROOT],
  ['docker exec -u root -w /srv mongo sh -c "rm -rf /"', ROOT],
  ['sudo podman exec git rm -rf /', ROOT],
  ['docker-compose -f a.yml exec mysql rm -rf /', ROOT],
  ['kubectl exec -n a redis-cli -c b -- rm -rf /', ROOT],
  ['sudo -nu git rm -rf /', ROOT],
  ['sudo -uroot rm -rf /', ROOT],
  ['docker exec -unew a rm -rf /', ROOT],
  ['env X=/usr/bin/docker rm -rf /', ROOT],
  ['runuser -u docker -- rm -rf /', ROOT],
  ['chroot /srv/docker rm -rf /', ROOT],
  ['docker-compose rm -f', []],
  ['docker exec mongo ls /', []],
  ['docker exec a cat rm', []],
  ['sudo -u git ls /', []],
  ["su -c 'ls /'", []],
  ['ssh host', []],
  ["ssh host 'ls /etc'", []],
  ['git push origin +main', WHOLE],
  ['git push origin :main', WHOLE],
  ['git push --delete origin main', WHOLE],
  ['git branch -D main', WHOLE],
  ['git branch --delete --force main', WHOLE],
  ['git branch -d x', []],
  ['git filter-branch --all', WHOLE],
  ['git -C a filter-repo --path b', WHOLE],
  ['git filter-repo --analyze', []],
  ['git log filter-repo', []],
  ['curl -X DELETE http://es:9200/*', ALL],
  ["sudo curl -s -XDELETE 'es:9200/_all/?pretty'", ALL],
  ['curl --request DELETE https://es/logs-%2A', ALL],
  ['http DELETE http://es/_all', ALL],
  ['curl -X DELETE http://es:9200/logs/_doc/1', []],
  ['curl http://es:9200/*', []],
  ["$'rm' -rf /", ROOT],
  ["$'\\x72m' -rf /", ROOT],
  ["$'\\162\\u006d' -rf $'\\057'", ROOT],
  ["$'rm\\0x' -rf /", ROOT],
  ['$"rm" -rf /', ROOT],
  ["echo $'it\\'s' && rm -rf /", ROOT],
  ["echo $'; rm -rf /'", []],
  ["echo \"$'\" 'rm -rf /'", []],
  ['git branch x', []],
  ['git push -u origin main', []],
  ["mongosh app --eval 'db.users.deleteMany({})'", ALL],
])('a shell runs %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

const encoded = (text: string) => Buffer.from(text, 'utf16le').toString('base64');
const LISTED = ['escalate unreadable'];

it.each([
  ['npx rimraf /srv', ['deny delete_depth']],
  ['sudo npx -y rimraf@6.0.1 /', ROOT],
  ['npx --package rimraf -- rimraf /', ROOT],
  ['npm exec -- rimraf /', ROOT],
  ['pnpm dlx del-cli@6 /', ROOT],
  ["npx rimraf '/srv/*'", ['deny delete_wildcard']],
  ['npx rimraf /srv/app/build/out', []],
  ["npx -c 'rm -rf /'", ROOT],
  ['npx prettier --write rimraf', []],
  ['npx rimraf-report /srv', []],
  ['npm install rimraf', []],
  ['yarn remove rimraf', []],
  [`powershell -enc ${encoded('Remove-Item -Recurse C:\\')}`, ['deny delete_depth']],
  [`pwsh -NoProfile -e ${encoded('rm -rf /')}`, ROOT],
  [`sudo pwsh -EncodedCommand ${encoded('pwsh -ec ')}`, []],
  [`powershell.exe /ec ${encoded(`pwsh -en ${encoded('rm -rf /')}`)}`, ROOT],
  [`powershell -enc ${encoded('Get-Date')}`, []],
  [`powershell -ExecutionPolicy ${encoded('rm -rf /')}`, []],
  [`bash -e ${encoded('rm -rf /')}`, []],
  ['powershell -enc', []],
  [`awk 'BEGIN{system("rm -rf /")}'`, ROOT],
  [`sudo gawk -F: '{ print $1 | "sh -c \\"rm -rf /\\"" }' a/b.txt`, ROOT],
  [`awk 'BEGIN{system("date")}'`, []],
  [`awk '{print "rm -rf /"}' a/b.txt`, []],
  [`awk -F'|' '{print $2}' a/b.txt | sort`, []],
  ['docker rm -f $(docker ps -aq)', LISTED],
  ['sudo docker rm -f "$(docker ps -aq)"', LISTED],
  ['docker ps -aq | xargs docker rm -f', LISTED],
  ['docker rmi `docker images -q`', LISTED],
  ['podman volume rm $(podman volume ls -q)', [...WHOLE, ...LISTED]],
  ['docker system prune -a', WHOLE],
  ['podman system prune -a', WHOLE],
  ['docker volume rm data', WHOLE],
  ['nohup docker volume prune', WHOLE],
  ['docker rm --help', []],
  ['docker rmi app:old', []],
  ['docker rm -f web', []],
  ['docker volume ls', []],
  ['docker run --rm alpine ls $(pwd)', []],
  ['docker ps -aq', []],
])('a command in another form is found: %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['git', 'execute', { args: ['push', '--force'] }, WHOLE],
  ['git', 'execute', { command: 'push --force origin main' }, WHOLE],
  ['git', 'execute', { args: ['push', 'origin', 'main'] }, []],
  ['git_push', 'write', { repo_path: '/srv/a/b', force: true }, WHOLE],
  ['git_push', 'write', { repo_path: '/srv/a/b', force: false, branch: 'main' }, []],
  ['git_push', 'write', { repo_path: '/srv/a/b', force: true, dry_run: true }, []],
  ['git_reset', 'write', { repo_path: '/srv/a/b', mode: 'hard' }, WHOLE],
  ['git_clean', 'write', { repo_path: '.', force: true }, WHOLE],
  ['git_checkout', 'write', { repo_path: '.', branch_name: 'x' }, []],
  ['git_commit', 'write', { repo_path: '.', message: 'push --force' }, []],
  ['update_ref', 'write', { owner: 'o', repo: 'r', ref: 'heads/main', force: true }, WHOLE],
  ['update_ref', 'write', { owner: 'o', repo: 'r', ref: 'heads/main', force: false }, []],
  ['kubectl', 'execute', { args: 'delete pods --all' }, WHOLE],
  [
    'kubectl_generic',
    'execute',
    { command: 'delete', resourceType: 'pods', all: true },
    [...WHOLE, ...ALL],
  ],
  ['kubectl_get', 'read', { resourceType: 'namespaces', all: true }, []],
  ['docker', 'execute', { args: ['system', 'prune', '-af'] }, WHOLE],
  ['terraform_apply', 'execute', { destroy: true }, WHOLE],
])('the tool %s is a program, as %s with %o', (name, action, args, expected) => {
  expect(reach(name, action, args)).toEqual(expected);
});

it.each([
  ['ALTER TABLE t DROP c', SQL],
  ['ALTER TABLE t ADD a int, DROP "c"', SQL],
  ['ALTER TABLE t DROP (a, b)', SQL],
  ['ALTER TABLE t DROP IF EXISTS c', SQL],
  ['ALTER TABLE t DROP CONSTRAINT c', []],
  ['ALTER TABLE t ALTER COLUMN c DROP NOT NULL', []],
  ['ALTER TABLE t ADD a int; DROP INDEX i', []],
  ["COPY t TO '/etc/passwd'", CONFIG],
  ["COPY (SELECT 1) TO E'/etc/passwd' WITH (FORMAT csv)", CONFIG],
  ["SELECT 1 INTO OUTFILE '/etc/x'", CONFIG],
  ["SELECT 1 INTO DUMPFILE '/etc/x'", CONFIG],
  ["VACUUM INTO '/etc/x'", CONFIG],
  ["BACKUP DATABASE d TO DISK = '/etc/x'", CONFIG],
  ["ATTACH DATABASE '/etc/x' AS y", CONFIG],
  ["COPY t TO PROGRAM 'rm -rf /'", ROOT],
  ["COPY t FROM '/srv/a/tls.key'", ['escalate protected_file']],
  ['COPY t TO $$/etc/cron.d/a$$', CONFIG],
  ['COPY t TO $x$/etc/cron.d/a$x$', CONFIG],
  ['COPY t TO PROGRAM $$rm -rf /$$', ROOT],
  ["COPY t TO U&'\\002fetc/cron.d/a'", CONFIG],
  ["COPY t TO U&'!002fetc/cron.d/a' UESCAPE '!'", CONFIG],
  ["COPY t TO E'\\x2fetc/cron.d/a'", CONFIG],
  ['DO $$ BEGIN COPY t TO $x$/etc/cron.d/a$x$; END $$', CONFIG],
  ["SELECT $$it's$$; DELETE FROM t", SQL],
  ['CREATE FUNCTION f() AS $f$ BEGIN DELETE FROM t; END $f$', SQL],
  ["SELECT lo_export(1, '/etc/cron.d/a')", CONFIG],
  ['SELECT pg_catalog.lo_export(f(1, 2), $$/etc/cron.d/a$$)', CONFIG],
  ["SELECT writefile('/etc/cron.d/a', 'x')", CONFIG],
  ["SELECT pg_read_file('/srv/a/x.pem')", ['escalate protected_file']],
  ["SELECT pg_read_binary_file(E'/srv/a/x.pem', 0, 9)", ['escalate protected_file']],
  ["SELECT load_file('/srv/a/x.pem')", ['escalate protected_file']],
  ["SELECT readfile('/srv/a/x.pem')", ['escalate protected_file']],
  ["SELECT pg_ls_dir('/srv/a/x.pem')", ['escalate protected_file']],
  ["SELECT lo_export(1, 'out.txt'), '/etc/cron.d/a'", []],
  ["SELECT writefile('/srv/a/b', '/etc/cron.d/a')", []],
  ["SELECT my_file('/etc/cron.d/a')", []],
  ["SELECT a$x$b FROM t WHERE c = '$$'", []],
  ['COPY t TO $$/srv/export/t.csv$$', []],
  ['SELECT $$a$$ FROM t WHERE id = $1', []],
  ['DROP FOREIGN TABLE t', SQL],
  ['DROP MATERIALIZED VIEW v', SQL],
  ['DROP OWNED BY me', SQL],
  ['DROP VIEW v', []],
  ['CREATE OR REPLACE TABLE t AS SELECT 1', SQL],
  ['CREATE OR REPLACE TRANSIENT TABLE t (a int)', SQL],
  ['CREATE OR REPLACE SCHEMA s', ['deny sql_without_where']],
  ['CREATE OR REPLACE TEMPORARY TABLE t (a int)', []],
  ['CREATE OR REPLACE VIEW v AS SELECT 1', []],
  ["CREATE TABLE t AS SELECT replace(a, 'b', 'c') FROM u", []],
  ['ALTER FOREIGN TABLE t DROP c', SQL],
  ['ALTER FOREIGN TABLE t ADD a int', []],
  ['DELETE FROM t WHERE id IS NOT NULL OR id IS NULL', SQL],
  ['DELETE FROM t WHERE a = 1 OR (id) IS NULL OR (id IS NOT NULL)', SQL],
  ['DELETE FROM t WHERE a IS NOT NULL OR b IS NULL', []],
  ['DELETE FROM t WHERE EXISTS (SELECT 1)', SQL],
  ['DELETE FROM t WHERE EXISTS(SELECT id)', SQL],
  ['DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)', []],
  ['DELETE FROM t WHERE NOT EXISTS (SELECT 1)', []],
  ['DELETE FROM t WHERE 1 IN (1)', SQL],
  ['DELETE FROM t WHERE (id) IN (4, id)', SQL],
  ['DELETE FROM t WHERE id IN (1, 2)', []],
  ['DELETE FROM t WHERE id NOT IN (id)', []],
  ['DELETE FROM t WHERE id IN (SELECT id FROM u)', []],
  ['DELETE FROM t WHERE COALESCE(1, 0)', SQL],
  ['DELETE FROM t WHERE a = 1 OR ifnull(NULL, 1)', SQL],
  ['DELETE FROM t WHERE COALESCE(is_old, 1)', []],
  ['DELETE FROM t WHERE COALESCE(1 - 1, a)', []],
  ['DELETE FROM t WHERE COALESCE(0, 1)', []],
  ['DELETE FROM t WHERE id BETWEEN id AND id', SQL],
  ['DELETE FROM t WHERE 2 BETWEEN 1 AND 3', SQL],
  ['DELETE FROM t WHERE a = 1 OR id BETWEEN id AND id', SQL],
  ['DELETE FROM t WHERE id BETWEEN 1 AND 3', []],
  ['DELETE FROM t WHERE id NOT BETWEEN id AND id', []],
  ['DELETE FROM t WHERE id BETWEEN id AND id AND a = 1', []],
  ['DELETE FROM t WHERE id BETWEEN 1 AND 3 OR 1 = 1', SQL],
  ['DELETE FROM t WHERE 1 = 1 OR a IN (SELECT 1 LIMIT 1)', SQL],
  ['DELETE FROM t WHERE a IN (SELECT b FROM u ORDER BY c) OR 1 = 1', SQL],
  ['DELETE FROM t WHERE 1 = 1 LIMIT 1', []],
  ['COPY t TO STDOUT', []],
  ["COPY t TO '/srv/export/t.csv'", []],
  ["INSERT INTO copy VALUES ('/etc/passwd')", []],
  ['db.users.deleteMany({})', ALL],
  ['db.users.updateMany( {}, {$set: {a: 1}})', ALL],
  ['db.users.drop()', WHOLE],
  ['db.dropDatabase()', ['deny delete_whole']],
  ['db.users.deleteMany({_id: 7})', []],
  ['db.users.find({})', []],
])('a database is asked %s', (query, expected) => {
  expect(reach('query', 'execute', { query })).toEqual(expected);
});

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['delete-many', 'delete', { database: 'd', collection: 'c' }, ALL],
  ['delete_all_rows', 'delete', { table: 't', confirm: true }, ALL],
  ['update-many', 'write', { collection: 'c', update: { a: 1 } }, ALL],
  ['delete-many', 'delete', { collection: 'c', limit: 5 }, []],
  ['delete-many', 'delete', { collection: 'c', ids: ['a'] }, []],
  ['delete_all_messages', 'delete', { channel: 'c' }, ALL],
  ['delete_all_messages', 'delete', { channel: 'c', before: 'd' }, []],
  ['insert-many', 'write', { collection: 'c', documents: [{ a: 1 }] }, []],
])('%s as %s with %o', (name, action, args, expected) => {
  expect(reach(name, action, args)).toEqual(expected);
});

const mail = (to: string) => `Subject: x\r\nTo: ${to}\r\n\r\nTo: nobody@example.com`;

it.each<[string, ReachCall['args'], string[]]>([
  [
    'a message in base64url',
    { raw: Buffer.from(mail(people(60).join(',\r\n '))).toString('base64url') },
    MAIL,
  ],
  [
    'a message in base64',
    { message: { raw: Buffer.from(mail(people(60).join(', '))).toString('base64') } },
    MAIL,
  ],
  ['a message as it is', { mime_message: mail(people(60).join(', ')) }, MAIL],
  ['a message to few', { raw: Buffer.from(mail(people(50).join(', '))).toString('base64url') }, []],
  [
    'headers without an end',
    { raw: Buffer.from(`A: ${'x'.repeat(90_000)}`).toString('base64') },
    ['escalate unreadable'],
  ],
  ['what is no message', { raw: 'bm8gbWFpbA', to: 'a@example.com' }, []],
  ['addresses as names', { to: keyed(people(60)) }, MAIL],
  ['addresses as names, deeper', { on: { to: keyed(people(30)), cc: keyed(people(60)) } }, MAIL],
  ['few addresses as names', { to: keyed(people(50)) }, []],
])('mail is sent: %s', (_how, args, expected) => {
  expect(reach('send_email', 'execute', args)).toEqual(expected);
});

const users = Array.from({ length: 60 }, (_, i) => `U${i}`);
const phones = users.map((_, i) => `+1 555-01${i}`);

it.each<[string, ReachCall['args'], string[]]>([
  ['post_message', { receivers: users }, MAIL],
  ['post_message', { user_ids: users }, MAIL],
  ['send_message', { user_ids: users.join(',') }, MAIL],
  ['send_message', { channels: users }, MAIL],
  ['send_message', { receivers: users.slice(0, 50) }, []],
  ['update_team', { user_ids: users }, []],
  ['post_message', { channel: '#a', text: 'Hi <!channel>' }, MAIL],
  ['post_message', { channel: '#a', blocks: [{ text: { text: '<!here|here>!' } }] }, MAIL],
  ['post_message', { channel: '#a', text: '@everyone, see this' }, MAIL],
  ['zulip_send', { to: 'a', content: 'Hi @**all**.' }, MAIL],
  ['post_message', { channel: '#a', text: 'see you here, all' }, []],
  ['post_message', { channel: '#a', text: 'a@here.example @all-hands @hereby' }, []],
  ['conversations_add_message', { channel_id: 'C1', payload: '<!channel> hi' }, MAIL],
  ['slack_send', { channel: 'C1', msg: '@channel: hi' }, MAIL],
  ['slack_send', { attachments: [{ fallback: 'x', pretext: '<!here>' }] }, MAIL],
  ['slack_send', { blocks: [{ elements: [{ type: 'broadcast', range: 'channel' }] }] }, MAIL],
  ['slack_send', { blocks: '[{"type":"broadcast","range":"here"}]' }, MAIL],
  ['teams_post', { teamId: '1', message: '<at>everyone</at> hi' }, MAIL],
  ['teams_post', { teamId: '1', message: '<at id="0">Team</at> hi' }, MAIL],
  ['send_message', { chat: 'c', mentioned_list: ['@all'] }, MAIL],
  ['send_sms', { numbers: users, text: 'hi' }, MAIL],
  ['send_sms', { phone_numbers: phones, text: 'hi' }, MAIL],
  ['send_sms', { phoneNumbers: phones.join(',') }, MAIL],
  ['whatsapp_template', { phones: phones.map((phone) => ({ phone })) }, MAIL],
  ['make_call', { phone_numbers: phones }, MAIL],
  ['create_sms', { to_phone: phones }, MAIL],
  ['create_message', { to_phone: phones }, MAIL],
  ['update_contact', { phone_numbers: phones }, []],
  ['update_contact', { phone_numbers: phones.join(',') }, []],
  ['create_users', { users: [{ phones }] }, []],
  ['call_tool', { name: 'update_contact', arguments: { phone_numbers: phones } }, []],
  ['call_tool', { name: 'send_sms', arguments: { phone_numbers: phones } }, MAIL],
  ['add_numbers', { phone_number: '555-9999' }, []],
  ['send_campaign_email', { contact_ids: users.map((_, i) => i) }, MAIL],
  ['send_campaign_email', { contact_ids: users.slice(0, 50) }, []],
  ['send_report', { issue_numbers: users }, []],
  ['update_contacts', { contact_ids: users }, []],
  ['slack_send', { channel: 'C1', msg: 'the channel is here, for everyone' }, []],
  ['slack_send', { channel: 'C1', msg: 'mail a@channel.example or <#C1|channel>' }, []],
  ['slack_send', { elements: [{ type: 'channel', range: 'channel' }] }, []],
  ['teams_post', { teamId: '1', message: '<at id="0">Anna</at> hi' }, []],
  ['create_ticket', { fields: { type: 'broadcast', range: 'all' } }, []],
  ['send_email', { to: 'a@example.com', body: 'Hi @all' }, []],
  ['create_issue', { title: 'x', body: 'the text <!channel>' }, []],
])('%s sends to many: %j', (name, args, expected) => {
  expect(reach(name, 'write', args)).toEqual(expected);
});

it('what is read from a chat notifies nobody', () => {
  expect(reach('slack_search', 'read', { channel: 'C1', term: '<!channel>' })).toEqual([]);
});

it('what is hostile takes no more time than what is as long', () => {
  const texts = [
    '(COPY TO ',
    '.deleteMany( ',
    'db. ',
    "ssh 'ssh ",
    'DROP ',
    '{ ',
    'su -c ',
    'npx ',
    'sudo -u docker exec ',
    'awk |"',
    'awk \'system("\\\\',
    'pwsh -e ',
    'docker rm $(',
    'To: ',
    '$$ ',
    "$'\\x",
    '$a$ $',
    'a IS NULL OR ',
    'a BETWEEN a AND ',
    'a IN (a, ',
    'EXISTS(COALESCE(',
    'lo_export(',
    '<at ',
    '<at>everyone ',
  ];
  for (const text of texts) {
    const long = text.repeat(60_000 / text.length);
    const began = cpuMs();
    reach('query', 'delete', { command_line: long, sql: `ALTER TABLE ${long}`, raw: long });
    reach('slack_send', 'execute', { channel: 'c', payload: long });
    reach('query', 'execute', { sql: `COPY DELETE FROM t WHERE ${long}` });
    expect(cpuMs() - began, text).toBeLessThan(5_000);
  }
});
