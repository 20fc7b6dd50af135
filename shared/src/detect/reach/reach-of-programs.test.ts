/** What programs on a command line write where their options say, and what wipes a disk. */
import { expect, it } from 'vitest';
import { DEFAULT_BLAST_RADIUS } from '../../blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';
import type { ReachCall } from './reach-finding.ts';

const find = createReachFinder(DEFAULT_BLAST_RADIUS);
const reach = (name: string, action: ReachCall['action'], args: ReachCall['args']) =>
  find({ name, action, args })
    .map(({ rule, verdict }) => `${verdict} ${rule}`)
    .sort();

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

const ROOT = ['deny delete_depth', 'escalate config_path'];

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
  ]) {
    const began = performance.now();
    reach('write_stdin', 'execute', { chars: text.repeat(60_000 / text.length) });
    reach('run_command', 'execute', { command: `sudo ${text.repeat(60_000 / text.length)}` });
    expect(performance.now() - began, text).toBeLessThan(5_000);
  }
});
