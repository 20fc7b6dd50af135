/** Command lines in which only the run shows a program, a list or a value. */
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createCommandReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';

const run = createCommandReach({
  ...DEFAULT_BLAST_RADIUS,
  protected_file_patterns: ['*.env', '.bashrc'],
});

const ROOT = ['deny delete_depth', 'escalate config_path'];
const LISTED = ['escalate unreadable'];
const WHOLE = ['escalate delete_whole'];
const BULK = ['escalate bulk_action'];
const PROTECTED = ['escalate protected_file'];

it.each([
  '$A rm -rf /',
  `"\${A}" rm -rf /`,
  'A=; $A rm -rf /',
  '$SUDO -u root rm -rf /',
  '$(which sudo) rm -rf /',
  '$RM -rf /',
  'eval $(echo rm -rf /)',
  `eval "$(echo 'rm -rf /')"`,
  'eval `echo rm -rf /`',
  '$(echo rm) -rf /',
  'bash -c "$(echo rm -rf /)"',
  `eval $(printf '%s -rf %s' rm /)`,
  'rm -rf "$(echo /)"',
  'D=$(echo /); rm -rf $D',
  "eval '' rm -rf /",
  '< list rm -rf /',
])('%s deletes the root', (command) => expect(run(command)).toEqual(ROOT));

it.each<[string, string[]]>([
  ['$KUBECTL delete ns prod', WHOLE],
  ['$DOCKER rm -f web', []],
  ['$GIT rm -r src', []],
  ['$GIT_HOME/bin/rm -rf /', ROOT],
  ['$HOME/bin/tool rm /srv', []],
  ['$SUDO rm -rf /srv/a/b/c', []],
  ['eval $(ssh-agent)', []],
  ['$gone = Remove-Item C:\\ -Recurse', ['deny delete_depth']],
])('a variable is the program: %s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  ['tee /srv/a/b/out.txt < /etc/os-release', []],
  ['tee /etc/hosts < a', ['escalate config_path']],
  ['patch -p1 < /etc/a.patch', []],
  ['read x < /srv/a/.env', PROTECTED],
  ['rm -rf $(< list)', LISTED],
  ['xargs rm -rf < list', LISTED],
])('what is behind < is read: %s', (command, found) => expect(run(command)).toEqual(found));

describe('lists', () => {
  it.each<[string, string[]]>([
    ['docker rm $(docker ps -qf name=web)', []],
    ['docker rm -f $(docker ps -aq --filter "name=^web-1$")', []],
    ['docker rm -f $(docker ps -aq)', LISTED],
    ['docker rm -f $(docker ps -aq) web', LISTED],
    ['docker rm $(docker ps -aq) $(docker ps -qf name=web)', LISTED],
    ['docker rm $(docker ps -qf name=e)', LISTED],
    ['ssh host docker rm -f $(docker ps -aq) web', LISTED],
    ['ssh host docker rm $(docker ps -qf name=web)', []],
    ['rm -rf /srv/a/b/c $(find . -type f)', LISTED],
    ['docker ps -qf name=web | xargs docker rm', []],
    ['docker ps -aq --filter label=app=web | head -3 | sudo xargs -r docker rm -f', []],
    ['docker ps -aq | xargs docker rm', LISTED],
    ['docker ps -qf name=e | xargs docker rm', LISTED],
    ['docker ps -qf name=web; docker ps -aq | xargs docker rm', LISTED],
    ['docker ps -qf name=web | cat - all | xargs docker rm', LISTED],
    ['docker ps -aq | xargs docker rm $(docker ps -qf name=web)', LISTED],
    ['docker ps -qf name=web | xargs docker rm $(docker ps -aq)', LISTED],
    ['docker ps -qf name=web | xargs rm -rf', LISTED],
  ])('%s', (command, found) => expect(run(command)).toEqual(found));
});

it.each<[string, string[]]>([
  ['git branch -D side', []],
  ['git -C /srv/a branch -D a feature/b', []],
  ['for b in x y; do git branch -D $b; done', []],
  ['git push origin --delete side', []],
  ['git push origin :side :other', []],
  ['git update-ref -d refs/heads/side', []],
  ['git branch -D main', WHOLE],
  ['git branch -D side release/2', WHOLE],
  ['git branch -D', WHOLE],
  ['git branch -D $(git branch --merged)', WHOLE],
  ['git branch -D $B', WHOLE],
  ["git branch -D 'a*'", WHOLE],
  ['git branch | xargs git branch -D', WHOLE],
  ['git branch | xargs git branch -D side', LISTED],
  ['git branch | while read b; do git branch -D $b; done', WHOLE],
  ['git push origin :main', WHOLE],
  ['git push -f origin :side', WHOLE],
  ['git push origin -d side --mirror', WHOLE],
  ['git push origin --delete refs/tags/x', WHOLE],
  ['git push origin --delete v1.2', WHOLE],
  ['git update-ref -d refs/heads/main abc', WHOLE],
  [`git branch -D ${Array.from({ length: 101 }, (_, at) => `b${at}`).join(' ')}`, BULK],
])('a branch that is deleted: %s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  ['D=/; f() { local D=$1; rm -rf "$D"; }; f /srv/a/b/c', []],
  ['D=/; f() { local D=$1; rm "$D"; }; f /srv/a/b/c; rm -rf $D', ROOT],
  ['f() { local D=/; g; }; g() { rm -rf $D; }; f', ROOT],
  ['D=/; f() { if a; then local D=$1; fi; rm -rf "$D"; }; f /srv/a/b/c', ROOT],
  ['f() { local D=$1; rm -rf "$D"; }; f /', ROOT],
])('a local variable: %s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  [`D=; [ -n "$1" ] && D=/srv/a/b; rm -rf "\${D:?}/build"`, []],
  [`D=; [ -n "$1" ] && D=/srv/a/b; rm -rf "\${D?}/build"`, ['deny delete_depth']],
  ['D=; [ -n "$1" ] && D=/srv/a/b; rm -rf "$D/build"', ['deny delete_depth']],
  [`D=/; rm -rf "\${D:?}"`, ROOT],
])('a variable that may be empty: %s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  ["git commit -m 'Document how to edit /etc/hosts and ~/.bashrc'", []],
  ["git commit -am 'Edit ~/.bashrc'", []],
  ["gh pr create --title a --body='Edit ~/.bashrc'", []],
  ["glab issue note 3 -m 'see /srv/a/.env'", []],
  ['git commit -F /srv/a/.env', PROTECTED],
  ['git commit -m a -- /srv/a/.env', PROTECTED],
  ['git show -m HEAD:.env', PROTECTED],
  ['gh gist create -d a /srv/a/.env', PROTECTED],
])('a message names no files: %s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  ['mkfs.ext4 -n /dev/sdb1', []],
  ['mkfs -t ext4 -n /dev/sdb1', []],
  ['mkfs.xfs -N /dev/sdb1', []],
  ['mkfs.ntfs --no-action /dev/sdb1', []],
  ['wipefs -an /dev/sdb', []],
  ['sgdisk --pretend --zap-all /dev/sdb', []],
  ['mkfs.vfat -n BOOT /dev/sdb1', ['deny delete_whole']],
  ['mkfs -t vfat -n BOOT /dev/sdb1', ['deny delete_whole']],
  ['mkfs.ext4 -L -n /dev/sdb1', ['deny delete_whole']],
  ['mkfs.ext4 /dev/sdb1 -- -n', ['deny delete_whole']],
])('programs for disks that only show what they would do: %s', (command, found) => {
  expect(run(command)).toEqual(found);
});

it.each<[string, string[]]>([
  ["git config alias.x '!rm -rf /'", ['escalate config_path', 'escalate delete_depth']],
  ["git config alias.x '!mkfs.ext4 /dev/sda'", WHOLE],
  ["git -c alias.x='!rm -rf /' x", ROOT],
])('an alias is not run yet: %s', (command, found) => expect(run(command)).toEqual(found));

it.each([
  ['substitutions in one another', (size: number) => `${'echo $('.repeat(size / 7)}a`],
  ['substitutions', (size: number) => `rm ${'$(echo a b)'.repeat(size / 12)}`],
  [
    'a format that is used again',
    (size: number) => `rm $(printf '${'a'.repeat(size / 2)}%s' ${'b '.repeat(size / 4)})`,
  ],
  ['local variables', (size: number) => 'f() { local D=$1; }; f a;'.repeat(size / 25)],
])('reads %s in linear time', (_what, line) => {
  const began = cpuMs();
  for (const size of [8_000, 64_000]) run(line(size));
  expect(cpuMs() - began).toBeLessThan(10_000);
});
