// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of a shell are what is tested
/** What the variables, loops, arrays and functions of a command line hide nothing of. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createCommandReach } from '../../testing/test-reach.ts';

const run = createCommandReach();

const ROOT = ['deny delete_depth', 'escalate config_path'];
const TOP = ['deny delete_depth'];
const LEAST = ['escalate delete_depth'];
const LOOP = ['escalate delete_depth', 'escalate unreadable'];

it.each([
  'a=rm; $a -rf /',
  'a=r b=m; $a$b -rf /',
  'X="-rf /"; rm $X',
  'D=/; rm -rf "$D"',
  'D=/; E=$D; rm -rf "${E}"',
  'D=; D+=/; rm -rf "$D"',
  'rm -rf "${DIR:-/}"',
  'D=; rm -rf "$D/"',
  'cmd="rm -rf /"; eval "$cmd"',
  'cmd=(rm -rf /); "${cmd[@]}"',
  'for c in ls rm; do $c -rf /; done',
  "D=/; bash -c 'rm -rf $D'",
  "D=/ bash -c 'rm -rf $D'",
  'D=/; echo "rm -rf $D" | sh',
  "D=/; trap 'rm -rf $D' EXIT",
  `bash -c 'rm -rf "$1"' sh /`,
  'set -- /; rm -rf "$@"',
  "for h in a b; do ssh $h 'rm -rf /'; done",
  'for c in a b; do docker exec "$c" rm -rf /; done',
  'f() { rm -rf "$1"; }; f /',
  'function f { rm -rf "$@"; }; f /',
  'f() { g "$1"; }; g() { rm -rf "$1"; }; f /',
  'f() { while [ $# -gt 0 ]; do rm -rf "$1"; shift; done; }; f /srv/a/b/c /',
  '[ -z "$D" ] && D=/; rm -rf "$D"',
  'if [ -z "$D" ]; then D=/; fi; rm -rf "$D"',
  'D=/; (D=/srv/a/b/c); rm -rf "$D"',
  'case $x in a) D=/;; *) D=/srv/a/b/c;; esac; rm -rf "$D"',
])('%s deletes the root', (command) => expect(run(command)).toEqual(ROOT));

it.each([
  'export T=/srv; rm -rf $T',
  'for d in /srv /home; do rm -rf "$d"; done',
  'dirs=(/home/a/b/c\n/srv); for d in "${dirs[@]}"; do rm -rf "$d"; done',
  "$p='C:\\'; Remove-Item -Recurse $p",
  "$p = 'C:\\'; Remove-Item -Recurse $p",
  "foreach ($d in 'D:\\','C:\\') { Remove-Item $d -Recurse }",
  'set D=C:\\ & rd /s /q %D%',
  'set d /srv; rm -rf $d',
])('%s deletes what stands below the root', (command) => expect(run(command)).toEqual(TOP));

it.each([
  'cat list | while read d; do rm -rf "$d"; done',
  'while IFS= read -r d; do rm -f "$d"; done < list',
  'for d in $(cat list); do rm -rf "$d"; done',
  'mapfile -t all < list; rm -rf "${all[@]}"',
  'all=$(find . -type d); rm -rf $all',
])('%s deletes what another command lists', (command) => expect(run(command)).toEqual(LOOP));

it.each([
  ['P=/etc; echo x > "$P/hosts"', ['escalate config_path']],
  ['find / -name x -exec sh -c \'rm -rf "$1"\' _ {} \\;', ['deny delete_wildcard', ROOT[1]]],
  ['find . -fprint /etc/motd', ['escalate config_path']],
  // As without a variable: a short relative path.
  ['rm -rf "$BUILD_DIR"', ['escalate delete_depth']],
  ['rm -rf "${BUILD_DIR:?}"', ['escalate delete_depth']],
  ['D=$(mktemp -d); rm -rf "$D"', ['escalate delete_depth']],
  ['D=/srv/a/b/c; source settings; rm -rf "$D"', ['escalate delete_depth']],
  ['rm -rf "$BUILD_DIR/out/a"', []],
  ['rm -rf "${BUILD_DIR:?is not set}/out/a"', []],
  ['D=/; D=/srv/a/b/c; rm -rf "$D"', []],
  ['rm -rf "${D:-/srv/a/b/c}"', []],
  ["D=/; echo 'rm -rf $D'", []],
  ['D=/; ls "$D"', []],
  ['clean() { rm -rf "$1"; }; clean /srv/a/b/c; ls /', []],
  ['for i in 1 2 3; do rm -rf /srv/a/b/$i; done', []],
  ['for d in a b; do rm -rf "/srv/$d/cache/old"; done', []],
  ['while read -r l; do echo "$l"; done < list', []],
  ['HOME=/srv/a/b/c; rm -rf $HOME', ['deny delete_depth']],
])('%s', (command, found) => expect(run(command)).toEqual(found));

it.each([
  ['D=${1:-}; rm -rf "$D/build"', LEAST],
  ['rm -rf "${D:-}/build"', LEAST],
  ['f() { local d="${1-}"; rm -rf "$d/build"; }; f', LEAST],
  ['D=${1:-}; D=${D%/}; rm -rf "$D/build"', LEAST],
  ['D=${1:-}; rm -rf "${D:?}/build"', LEAST],
  ['for d in "${A:-}/x" b/c/d; do rm -rf "$d"; done', LEAST],
  ['rm -f ${TMP:-}', LEAST],
  ['rm -rf "${D:-}"/*', ['escalate config_path', 'escalate delete_wildcard']],
  ['D=${1:-}; rm -rf "$D/a/b/c"', []],
  ['D=; rm -rf "${D:-}/build"', TOP],
  ['D=${1:-}; rm -rf "${D:-/}"', ROOT],
  ['rm -rf /${D:-}', ROOT],
  ['${A:-} rm -rf /', ROOT],
  ['r${A:-}m -rf /', ROOT],
  ['rm ${O:-} -rf /', ROOT],
  ['rm${IFS%?}-rf${IFS%?}/', ROOT],
  ['git ${O:-} clean -fdx', ['escalate delete_whole']],
  ['cat a > "${D:-}/etc/hosts"', ['escalate config_path']],
  ['dd if=/dev/zero of=${X:-}/dev/sda', ['deny delete_whole']],
  ['rm -rf "${HOME:-}/"', TOP],
  ['rm -rf "${D%/}"', LEAST],
  ['rm -rf "/srv/a/b/${x##*/}"', []],
])('a variable that may be unset: %s', (command, found) => expect(run(command)).toEqual(found));

it.each([
  '${a:-}',
  ' "${a:-}/"',
  ' ${a%/}',
  'a=${1:-}; rm $a/b;',
])('reads %s in linear time', (text) => {
  for (const before of ['', 'rm ', 'git ']) {
    const from = cpuMs();
    run(before + text.repeat(60_000 / text.length));
    expect(cpuMs() - from).toBeLessThan(5_000);
  }
});

it.each([
  'echo ${a:-b c}; rm -rf /',
  'a=1; echo "${a:-"}"}"; rm -rf /',
  'a=(x; rm -rf /',
  'a=(x; rm -rf /)',
  'a=1; echo ${a:-$(rm -rf /)}',
])('no form of a variable hides what stands beside it: %s', (command) => {
  expect(run(command)).toEqual(ROOT);
});

it('options that are collected one by one are no reason not to read a line', () => {
  const options = Array.from({ length: 20 }, (_, at) => `-${at}) args="$args --option-${at}" ;;`);
  const line = `while [ $# -gt 0 ]; do case $1 in ${options.join(' ')} esac; shift; done`;
  expect(run(`args=; ${line}; npm run build $args`)).toEqual([]);
  expect(run(`args=/; ${line}; rm -rf $args`)).toContain('deny delete_depth');
  expect(run(`args=; ${line}; rm -rf $args /`)).toContain('deny delete_depth');
});

it.each([
  ['values that double', `a=xx; ${'a=$a$a; '.repeat(7_000)}`],
  ['loops over loops', `for a in ${'x '.repeat(9_000)}; do echo ${'$a '.repeat(9_000)}; done`],
  ['functions', `f() { ${'rm $1 $@; '.repeat(2_000)} }; ${'f a b c; '.repeat(3_000)}`],
  ['values of branches', Array.from({ length: 5_000 }, (_, at) => `a && b=${at}`).join(';')],
])('is not read where it takes too much: %s', (_what, command) => {
  const from = cpuMs();
  expect(run(command)).toContain('escalate unreadable');
  expect(cpuMs() - from).toBeLessThan(10_000);
});
