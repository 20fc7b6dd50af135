/** Command lines that a program is handed in other ways than by a plain pipe. */
import { expect, it } from 'vitest';
import { createCommandReach, createReach } from '../../testing/test-reach.ts';

const run = createCommandReach();
const reach = createReach();
const ROOT = ['deny delete_depth', 'escalate config_path'];
const HEX = Buffer.from('rm -rf /').toString('hex');

it.each<[string, string[]]>([
  [`echo ${HEX} | xxd -r -p | sh`, ROOT],
  [`echo ${HEX} | xxd -p -r | bash`, ROOT],
  [`echo ${HEX} | xxd -rp | sh`, ROOT],
  [`echo ${HEX} | xxd -r -ps | sh`, ROOT],
  [`echo '${HEX.replace(/(..)/g, '$1 ')}' | xxd -r -p | sh`, ROOT],
  [`xxd -r -p <<< ${HEX} | sh`, ROOT],
  ['coproc rm -rf /', ROOT],
  ['coproc JOB { rm -rf /; }', ROOT],
  [". /dev/stdin <<< 'rm -rf /'", ROOT],
  ["source /dev/stdin <<< 'rm -rf /'", ROOT],
  ["echo 'rm -rf /' | . /dev/stdin", ROOT],
  [`echo ${HEX} | xxd -p`, []],
  [`echo ${Buffer.from('ls /').toString('hex')} | xxd -r -p | sh`, []],
  ['echo 00ff | xxd -r -p > a/b/c.bin', []],
  ['coproc tail -f /var/log/syslog', []],
  ['source venv/bin/activate', []],
  ['. ./a.sh && ls', []],
])('%s', (command, found) => expect(run(command)).toEqual(found));

it('a program in an argument that is called exe', () => {
  const of = (args: object) => reach('start_process', 'execute', { ...args });
  expect(of({ exe: 'rm', arguments: ['-rf', '/'] })).toEqual(ROOT);
  expect(of({ exe: '/bin/rm', args: '-rf /' })).toEqual(ROOT);
  expect(of({ exe: 'ls', arguments: ['-l', '/'] })).toEqual([]);
});
