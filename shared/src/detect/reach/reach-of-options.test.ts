/** Commands and files in the options and the languages of programs. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createCommandReach } from '../../testing/test-reach.ts';

const run = createCommandReach();

it.each([
  "vim -c ':!rm -rf /' -c q",
  "vim +'!rm -rf /' +q",
  `nvim -c 'call system("rm -rf /")'`,
  "ex -sc 'w !rm -rf /' file",
  "sed '1e rm -rf /' file",
  String.raw`sed 's/.*/rm -rf \//e' file`,
  "tar xf a.tar --to-command='rm -rf /'",
  "tar cf a.tar --checkpoint=1 --checkpoint-action=exec='rm -rf /' .",
  "sudo tar xf a.tar -I 'rm -rf /'",
  "git -C a -c core.sshCommand='rm -rf /' fetch",
  "git submodule foreach --recursive 'rm -rf /'",
  "git bisect run sh -c 'rm -rf /'",
  "git rebase -x 'rm -rf /' main",
  "GIT_SSH_COMMAND='rm -rf /' git fetch",
  "ssh -o ProxyCommand='rm -rf /' host",
  "scp -o 'ProxyCommand rm -rf /' a host:b",
  "rsync -e 'rm -rf /' a host:b",
  "env -S 'rm -rf /'",
  "echo '* * * * * rm -rf /' | crontab -",
  "(crontab -l; echo '@daily rm -rf /') | crontab -",
  'awk \'BEGIN { "rm -rf /" | getline }\'',
  "gdb -batch -ex 'shell rm -rf /'",
  "less '+!rm -rf /' file",
  `osascript -e 'do shell script "rm -rf /"'`,
  'firejail rm -rf /',
  'toybox rm -rf /',
  'lxc exec web -- rm -rf /',
])('%s deletes the root', (command) => {
  expect(run(command)).toEqual(['deny delete_depth', 'escalate config_path']);
});

it.each([
  "vim -es -c '%s/a/b/' -c 'w! /etc/hosts' -c q file",
  "ex -sc 'w /etc/hosts' -cx file",
  "sed 'w /etc/hosts' file",
  "sed -n -e 's/a/b/gw /etc/hosts' file",
  'tar cf /etc/a.tar .',
  'sort -o /etc/hosts file',
  'openssl enc -d -in a -out /etc/hosts',
  "docker run -v /etc:/x alpine sh -c 'echo a > /x/hosts'",
])('%s writes configuration', (command) => expect(run(command)).toEqual(['escalate config_path']));

it.each([
  ['docker run -v /:/h alpine rm -rf /h/srv', ['deny delete_depth']],
  ['docker run --mount type=bind,src=/,dst=/h alpine rm -rf /h/home', ['deny delete_depth']],
  ['perl -e \'unlink glob "/etc/*"\'', ['deny delete_wildcard', 'escalate config_path']],
])('%s', (command, found) => expect(run(command)).toEqual(found));

it.each([
  'docker run -v $(pwd):/w -w /w node npm test',
  'tar czf backup.tgz src',
  "sed 's/draw /etc/' file",
  "sed '/foo/d; s/a/b/g' file",
  "sed -E 's#/etc/x#/etc/y#' file",
  'git -c user.name="A B" commit -m "a b"',
  'git config --global alias.lg "log --oneline --graph"',
  'git submodule foreach git pull',
  "vim -c 'set nu' file",
  'vim +12 src/a.ts',
  "ssh -o ProxyCommand='ssh -W %h:%p bastion' host uptime",
  "rsync -az -e 'ssh -p 22' a host:b",
  "(crontab -l; echo '0 * * * * /srv/a/job.sh') | crontab -",
  "zip -r out.zip 'my folder'",
])('%s is ordinary', (command) => expect(run(command)).toEqual([]));

it('scripts of sed are read in linear time', () => {
  const from = cpuMs();
  run(`sed '${'s/a/b/w x\n'.repeat(6_000)}'`);
  run(`sed '${'s/'.repeat(30_000)}'`);
  run('sudo env '.repeat(7_000));
  expect(cpuMs() - from).toBeLessThan(10_000);
});
