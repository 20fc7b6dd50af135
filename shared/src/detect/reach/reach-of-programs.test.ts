/** What programs on a command line write where their options say, and what wipes a disk. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';
import type { ReachCall } from './reach-finding.ts';

const SETTINGS = {
  ...DEFAULT_BLAST_RADIUS,
  config_path_prefixes: [...DEFAULT_BLAST_RADIUS.config_path_prefixes, '/var/spool/cron/'],
};
const find = createReachFinder(SETTINGS);
const reach = createReach(SETTINGS);

const CONFIG = ['escalate config_path'];
const WIPED = ['deny delete_whole'];

it.each([
  ['curl -o /etc/cron.d/x https://a', CONFIG],
  ['sudo curl -sSLo/etc/cron.d/x https://a', CONFIG],
  ['env A=1 curl https://a --output=/etc/cron.d/x', CONFIG],
  ['A=1 curl --output /etc/cron.d/x https://a', CONFIG],
  ['curl https://a -O --output-dir /etc/cron.d', CONFIG],
  ['curl -o x.pem https://a', ['deny protected_file']],
  ['curl -o out.json https://a', []],
  ['curl -so /dev/null https://a/etc/x', []],
  ['wget -qO /etc/cron.d/x https://a', CONFIG],
  ['wget -P /etc https://a', CONFIG],
  ['wget --directory-prefix=/etc https://a', CONFIG],
  ['wget -qO- https://a', []],
  ['tar xf a.tgz -C /etc', CONFIG],
  ['tar -xzf a.tgz -C/etc', CONFIG],
  ['tar --extract -f a.tgz --directory=/etc', CONFIG],
  ['tar -C ./build -xf a.tgz', []],
  ['tar -C /etc -czf a.tgz .', []],
  ['unzip -o a.zip -d /etc', CONFIG],
  ['unzip a.zip -d build', []],
  ['git clone https://a/b /etc/b', CONFIG],
  ['git -C a clone --depth 1 https://a/b /etc/b', CONFIG],
  ['git clone https://a/b', []],
  ['patch /etc/passwd < a.diff', CONFIG],
  ['patch -p1 -d /etc < a.diff', CONFIG],
  ['patch -p1 < a.diff', []],
  ['perl -pi -e s/a/b/ /etc/passwd', CONFIG],
  ['perl -Ilib /etc/a.pl', []],
  ['ed -s /etc/passwd', CONFIG],
  ['ssh-keygen -t ed25519 -N "" -f /etc/ssh/host', CONFIG],
  ['ssh-keygen -lf /etc/ssh/host.pub', []],
  ['(crontab -l; echo a) | crontab -', CONFIG],
  ['crontab jobs.txt', CONFIG],
  ['sudo crontab -u www jobs.txt', CONFIG],
  ['crontab -r', ['escalate config_path', 'escalate delete_whole']],
  ['crontab -l', []],
  ['crontab -u www -l', []],
  ['sudo -u ed curl -o /etc/x https://a', CONFIG],
  ['echo curl -o /etc/x', []],
])('a shell writes with %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

it.each([
  ['cat image > /dev/sda', WIPED],
  ['shred /dev/sda1', WIPED],
  ['cp image /dev/nvme0n1', WIPED],
  ['tee /dev/mapper/root < image', WIPED],
  ['cat image > //dev/../dev/vdb', WIPED],
  ['curl https://a -o /dev/mmcblk0', WIPED],
  ['sudo sh -c "cat image > /dev/rdisk2"', WIPED],
  ['format C:', WIPED],
  ['format d:\\ /q', WIPED],
  ['Clear-Disk 0', WIPED],
  ['sudo diskutil eraseDisk JHFS+ a disk2', WIPED],
  ['dd if=a of=/dev/sda', WIPED],
  ['dd if=a of=/dev/fd/../sda', WIPED],
  ['dd if=a of=/dev/shm/../sda', WIPED],
  ['mkfs.ext4 /dev/sda1', WIPED],
  ['mkfs -V /dev/sda1', WIPED],
  ['wipefs -a /dev/sda', WIPED],
  ['sudo wipefs -fa /dev/sda', WIPED],
  ['wipefs --all /dev/sda', WIPED],
  ['wipefs -o 0x438 /dev/sda', WIPED],
  ['wipefs /dev/sda', []],
  ['wipefs --types ext4 /dev/sda', []],
  ['diskutil list', []],
  ['dd if=a of=/dev/stdout', []],
  ['dd if=a of=/dev/stderr', []],
  ['dd if=a of=/dev/null', []],
  ['dd if=a of=/dev/fd/1', []],
  ['dd if=a of=/dev/shm/a.img', []],
  ['mkfs --help', []],
  ['mkfs.ext4 -V', []],
  ['sudo wipefs --version', []],
  ['format c', []],
  ['npm run format', []],
  ['cat /dev/sda > a/b.img', []],
  ['echo a > /dev/null', []],
  ['echo a > /dev/shm/a', []],
  ['chown me /dev/sda', []],
  ['ls /dev/disk/by-id', []],
  ['smartctl -a /dev/sda', []],
])('a shell wipes a disk with %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

const ROOT = ['deny delete_depth', 'escalate config_path'];
const WHOLE = ['escalate delete_whole'];
const DRIVE = ['deny delete_wildcard'];
const LISTED = ['escalate unreadable'];

it.each([
  ['Get-ChildItem C:\\ -Recurse | Remove-Item -Force -Recurse', DRIVE],
  ['gci -Path C:\\Users -Recurse | where { $_.Length } | ri -Force', DRIVE],
  ['gci C:\\ -Recurse | % { Remove-Item $_.FullName }', DRIVE],
  ['dir C:\\ | del', DRIVE],
  ['Get-Item C:\\Users | Remove-Item -Recurse', ['deny delete_depth']],
  ['Get-ChildItem D:\\a\\b -Filter *.log | Remove-Item', ['escalate delete_wildcard']],
  ['Get-ChildItem C:\\ -Recurse | Remove-Item -WhatIf', []],
  ['Get-ChildItem C:\\ -Recurse | Select-Object Name', []],
  ['Get-ChildItem C:\\; Get-Content a | Select-Object b', []],
  ['Get-ChildItem C:\\ || Remove-Item D:\\a\\b\\c', []],
  ['ls / | rm a/b/c', []],
  ['Remove-Item -Recurse -Force C:\\Users -WhatIf', []],
  ['Remove-Item C:\\Users -Recurse -WhatIf:$true', []],
  ['Remove-Item C:\\Users -Recurse -WhatIf:$false', ['deny delete_depth']],
  ["Remove-Item -Recurse C:\\Users, '-WhatIf'", ['deny delete_depth']],
  ['rm -rf / -WhatIf', ROOT],
  ['npx del-cli / -WhatIf', ROOT],
])('PowerShell runs %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

it.each([
  ['rm -rf $(cat list)', LISTED],
  ['sudo rm -rf "$(cat list)"', LISTED],
  ['rm -rf `cat list`', LISTED],
  ['rm -rf a/b/c/$(date +%F)', []],
  ['echo $(which rm)', []],
  ['`command -v rm`', []],
  ['docker --context rm exec c rm -rf /', ROOT],
  ['docker --context exec exec -it c rm -rf /', ROOT],
  ['docker --context rm rm -f web', []],
  ['chroot /srv/awk rm -rf /', ROOT],
  ['chroot --userspec a:b /srv/node rm -rf /', ROOT],
  ['runuser -u awk -- rm -rf /', ROOT],
  ['flock /var/mail rm -rf /', ROOT],
  ['env -C /srv/node rm -rf /', ROOT],
  ['xargs -a /var/mail rm -rf /', ROOT],
  ["npx --call='rm -rf /'", ROOT],
  ["npm exec -c 'rm -rf /'", ROOT],
  ["npx --call='ls /'", []],
  [`powershell -Encoding x -e ${Buffer.from('rm -rf /', 'utf16le').toString('base64')}`, ROOT],
])('a program behind others is found: %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['docker', { args: ['exec', 'c', 'rm', '-rf', '/'] }, ROOT],
  ['docker', { args: 'exec c rm -rf /' }, ROOT],
  ['docker', { args: ['exec', 'c', 'ls', '/'] }, []],
  ['run', { args: ['rm', '-r', '-f', '/'] }, ROOT],
  ['run_command', { argv: ['sudo', 'rm', '-rf', '/'] }, ROOT],
  ['start_process', { arguments: ['sh', '-c', 'rm -rf /'] }, ROOT],
  ['run', { args: ['ls', '-r', '/'] }, []],
  ['npm', { args: ['rm', 'lodash'] }, []],
  ['search', { args: ['rm', '-rf', '/'] }, []],
])('%s is given words without a program: %j', (name, args, expected) => {
  expect(reach(name, 'execute', args)).toEqual(expected);
});

it.each([
  ['aws ec2 delete-volume --volume-id vol-1', WHOLE],
  ['aws --region eu-west-1 rds delete-db-cluster --db-cluster-identifier a', WHOLE],
  ['az storage container delete --name a', WHOLE],
  ['az group delete -n a --yes', WHOLE],
  ['gcloud compute disks delete a --zone b', WHOLE],
  ['gcloud storage buckets delete gs://a', WHOLE],
  ['gh api -X DELETE repos/o/r', WHOLE],
  ['gh api --method DELETE /repos/o/r', WHOLE],
  ['glab api -X DELETE projects/7', WHOLE],
  ['glab api -X DELETE groups/a%2Fb', WHOLE],
  ['curl -X DELETE https://git.example/api/v4/projects/7', WHOLE],
  ['curl -XDELETE https://api.github.com/repos/o/r', WHOLE],
  ['aws ec2 describe-volumes', []],
  ['aws ec2 delete-tags --resources vol-1', []],
  ['az storage container list', []],
  ['az storage blob delete --name a', []],
  ['gcloud compute disks list', []],
  ['gh api repos/o/r', []],
  ['gh api -X DELETE repos/o/r/issues/comments/1', []],
  ['glab api -X DELETE projects/7/labels/a', []],
])('a cloud is asked %s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

const MAIL = ['escalate email_recipients'];
const people = (count: number, by = ' ') =>
  Array.from({ length: count }, (_, at) => `p${at}@example.com`).join(by);

it.each([
  [`mail -s 'A b' ${people(51)}`, MAIL],
  [`echo a | sudo mailx -r me@example.com -s a ${people(51, ',')}`, MAIL],
  [`mail -s a -c ${people(30, ',')} -b ${people(51, ',')} root`, MAIL],
  [`mutt -s a -a b.pdf -- ${people(51)} < c`, MAIL],
  [`/usr/sbin/sendmail -f me@example.com ${people(51)} < a`, MAIL],
  [`swaks --to ${people(51, ',')} --server a`, MAIL],
  [`swaks --to=${people(51, ',')}`, MAIL],
  [`mail -s me@example.com -r me@example.com ${people(50)}`, []],
  [`swaks --from me@example.com --to ${people(50, ',')}`, []],
  [`echo ${people(51)}`, []],
  [`grep -s a ${people(51)}`, []],
])('mail is sent by %.40s', (command, expected) => {
  expect(reach('run_command', 'execute', { command })).toEqual(expected);
});

const FLUSHED = ['deny sql_without_where'];

it.each<[string, ReachCall['args'], string[]]>([
  ['redis', { command: 'FLUSHALL' }, FLUSHED],
  ['redis', { command: 'flushdb async' }, FLUSHED],
  ['redis_execute', { command: 'FLUSHALL', args: [] }, FLUSHED],
  ['valkey_call', { args: ['FLUSHALL', 'SYNC'] }, FLUSHED],
  ['keydb', { operation: 'flushall' }, FLUSHED],
  ['run_command', { command: 'FLUSHALL' }, FLUSHED],
  ['run_command', { command: ['FLUSHDB'] }, FLUSHED],
  ['run_command', { command: 'redis-cli flushall' }, FLUSHED],
  ['run_command', { command: 'redis-cli -h a -p 1 -n 2 FLUSHALL async' }, FLUSHED],
  ['run_command', { command: 'redis-cli --user a --no-auth-warning "flushall"' }, FLUSHED],
  ['run_command', { command: 'docker exec -it a redis-cli -a b flushdb' }, FLUSHED],
  ['run_command', { command: 'redis-cli get flushall' }, []],
  ['run_command', { command: 'redis-cli -h flushall -n 1 set flushdb 1' }, []],
  ['batch', { calls: [{ tool: 'flushdb', args: {} }] }, FLUSHED],
  ['flushall', {}, FLUSHED],
  ['redis_flush_db', {}, FLUSHED],
  ['redis_flush_all', {}, FLUSHED],
  ['flush_all', { logger: 'a' }, []],
  ['flush_database_cache', {}, []],
  ['redis_set', { key: 'command', value: 'FLUSHALL' }, []],
  ['redis', { command: 'SET flushall 1' }, []],
  ['redis', { operation: 'get', key: 'flushall', args: [{ toString: 1 }] }, []],
  ['run_command', { command: 'echo FLUSHALL' }, []],
  ['post_message', { text: 'FLUSHALL' }, []],
])('%s with %j', (name, args, expected) => {
  expect(reach(name, 'execute', args)).toEqual(expected);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['interact_with_process', { pid: 1, input: 'rm -rf /\n' }, ROOT],
  ['send_input_to_process', { id: 1, text: 'rm -rf /' }, ROOT],
  ['write_stdin', { session_id: 1, chars: 'rm -rf /\n' }, ROOT],
  ['send_keys', { keys: 'rm -rf /\n' }, ROOT],
  ['tmux_send', { pane: '0', keys: ['rm -rf /', 'Enter'] }, ROOT],
  ['pty_write', { data: 'rm -rf /\r' }, ROOT],
  ['interact_with_process', { pid: 1, input: 'DELETE FROM t;' }, ['escalate sql_without_where']],
  ['interact_with_process', { pid: 1, input: 'del a, b[0]\nif x: del c' }, []],
  ['interact_with_process', { pid: 1, input: 'print(a > b); import os' }, []],
  ['interact_with_process', { pid: 1, input: 'del C:\\' }, ROOT.slice(0, 1)],
  ['write_stdin', { session_id: 1, chars: 'yes\n' }, []],
  ['send_keys', { keys: 'C-c' }, []],
  ['browser_send_keys', { keys: 'rm -rf /' }, []],
  ['send_email', { to: 'a@example.com', input: 'rm -rf /' }, []],
  ['write_process_report', { text: 'rm -rf /' }, []],
  ['process_document', { input: 'rm -rf /' }, []],
])('%s types %j', (name, args, expected) => {
  expect(reach(name, 'execute', args)).toEqual(expected);
});

it('what is hostile takes no more time than what is as long', () => {
  for (const text of [
    'curl ',
    'sudo curl ',
    'sudo git clone ',
    'tar x -C',
    'perl -i ',
    '-o ',
    ':del a',
    'gci | ri | ',
    'rm `',
    '\n',
    'ri\n ',
    'mail -s ',
    'gh DELETE http://a/',
    'npx --call=',
  ]) {
    const began = cpuMs();
    reach('write_stdin', 'execute', { chars: text.repeat(60_000 / text.length) });
    reach('run_command', 'execute', { command: `sudo ${text.repeat(60_000 / text.length)}` });
    expect(cpuMs() - began, text).toBeLessThan(5_000);
  }
});

const things = (count: number) => Array.from({ length: count }, (_, at) => `web-${at}`).join(' ');

it.each([
  [`kubectl -n a delete pod ${things(101)}`, ['escalate bulk_action']],
  [`kubectl delete pod ${things(90)}`, []],
  [`kubectl get pod ${things(200)}`, []],
  [`aws ec2 terminate-instances --instance-ids ${things(101)}`, ['escalate bulk_action']],
  ['wrangler r2 bucket delete uploads', ['escalate delete_whole']],
  ['argo delete --all -n batch', ['escalate delete_whole']],
  ['argo delete build-1 -n batch', []],
  ["kafka-topics.sh --delete --topic '.*'", ['escalate delete_whole']],
  ["ldapdelete -x -r 'dc=example,dc=com'", ['escalate delete_whole']],
  ['rsync -a certs/ root@web:/etc/ssl/', ['escalate config_path']],
  ['scp hosts root@web:/etc/hosts', ['escalate config_path']],
  ['scp -r web:/etc/hosts .', []],
  ['rsync -avn --delete a/ web:/srv/', []],
  ['rsync -av --delete a/ web:/srv/', ['deny delete_depth']],
  // Where a command runs is certain behind `&&`, and here only.
  ['cd /home/dev/shop/web && rm -rf node_modules', []],
  ['cd / && rm -rf srv', ['deny delete_depth']],
  ['cd /home/dev/shop/web; rm -rf node_modules', ['escalate delete_depth']],
  ['cd /home/dev/shop/web && ssh web rm -rf out', ['escalate delete_depth']],
])('%s', (command, found) => {
  const all = find({ name: 'run_command', action: 'execute', args: { command } });
  expect(all.map(({ rule, verdict }) => `${verdict} ${rule}`).sort()).toEqual(found);
});

it.each([
  [['repo', 'delete', 'acme/web', '--yes'], ['escalate delete_whole']],
  [['clean', '-ffdx'], ['escalate delete_whole']],
  [['status'], []],
  [['DEL', 'cache:user:4412'], []],
  [['DEL', 'C:\\'], ['deny delete_depth']],
])('a tool that runs one program takes its words: %o', (args, found) => {
  const all = find({ name: 'run', action: 'execute', args: { args } });
  expect(all.map(({ rule, verdict }) => `${verdict} ${rule}`).sort()).toEqual(found);
});
