/** What stands behind substitutions, in here-documents and in pipes of a command line. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_BLAST_RADIUS } from '../../blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';

const find = createReachFinder(DEFAULT_BLAST_RADIUS);
const run = (command: string) =>
  find({ name: 'run_command', action: 'execute', args: { command } })
    .map(({ rule, verdict }) => `${verdict} ${rule}`)
    .sort();

const ROOT = ['deny delete_depth', 'escalate config_path'];
const LISTED = ['escalate unreadable'];
const ENCODED = Buffer.from('rm -rf /\n').toString('base64');

it.each([
  'echo "$(date)" && rm -rf /',
  'echo "on $(date +"%F") done"; rm -rf /',
  'A="$(pwd)"; rm -rf /',
  'echo "`date`"; rm -rf /',
  'cd "$(dirname "$0")" && rm -rf /',
  `echo "it's $(date)"; rm -rf /`,
  'echo "$((1 + 2))"; rm -rf /',
  '[ "$(id -u)" = 0 ] && rm -rf /',
  `echo "$(echo ')')"; rm -rf /`,
  `echo "$(case $x in a) echo '"' ;; esac)"; rm -rf /; echo 'x'`,
  'ssh host "echo $(date); rm -rf /"',
  'bash -c "echo `date`; rm -rf /"',
  'echo $(echo $(rm -rf /))',
  'echo "$(rm -rf /',
  "echo it's; rm -rf /",
])('a substitution or an open quote hides nothing that follows: %s', (command) => {
  expect(run(command)).toEqual(ROOT);
});

it.each([
  ['cp $(which a) /etc/a', ['escalate config_path']],
  ['echo a > "/etc/$(hostname)"', ['escalate config_path']],
  ['rm -rf $(cat list)', LISTED],
  ['rm -rf "$(cat list)"', LISTED],
  ['rm -rf $(a)$(b)', LISTED],
  ['docker rm -f `docker ps -aq`', LISTED],
])('what a substitution prints is a part of its word: %s', (command, found) => {
  expect(run(command)).toEqual(found);
});

it.each([
  'echo "rm -rf /" | bash',
  'echo -e "cd /tmp\\nrm -rf /" | sudo sh -s',
  "printf '%s\\n' 'rm -rf /' | sh",
  'bash <<< "rm -rf /"',
  'ssh host <<< "rm -rf /"',
  'echo "rm -rf /" | at now',
  `echo ${ENCODED} | base64 -d | sh`,
  `bash -c "$(echo ${ENCODED} | base64 --decode)"`,
  `base64 -d <<< ${ENCODED} | sh`,
  'bash <<EOF\nrm -rf /\nEOF',
  'cat <<EOF | sh\nrm -rf /\nEOF',
  'cat > run.sh <<EOF\nrm -rf /\nEOF\nsh run.sh',
  "docker exec -i web sh <<'EOF'\nrm -rf /\nEOF",
  'cat > a.txt <<EOF\n$(rm -rf /)\nEOF',
  "cat > a.txt <<'EOF'\nit's\nEOF\nrm -rf /",
  `git commit -m "$(cat <<'EOF'\ndon't\nEOF\n)" && rm -rf /`,
  'cat <<EOF\nrm -rf /',
  '((cat<<2))\nrm -rf /\n2',
  'python3 - <<EOF\nimport os\nos.system("rm -rf /")\nEOF',
])('what a shell or an interpreter reads is a command: %s', (command) => {
  expect(run(command)).toEqual(ROOT);
});

it.each([
  ['echo "DROP TABLE users" | psql app', ['escalate sql_without_where']],
  ['psql app <<EOF\nDELETE FROM users;\nEOF', ['escalate sql_without_where']],
  ['mysql <<< "DROP DATABASE app"', ['deny sql_without_where']],
])('what a database reads is SQL: %s', (command, found) => {
  expect(run(command)).toEqual(found);
});

it.each([
  "cat > Dockerfile <<'EOF'\nRUN apt-get update && \\\n rm -rf /var/lib/apt/lists/*\nEOF",
  "mkdir -p a && cat <<'EOF' > a/clean.sh\nrm -rf /\nEOF\nchmod +x a/clean.sh",
  `git commit -m "$(cat <<'EOF'\nrm -rf / is refused\n\ndel is no command\nEOF\n)"`,
  'tee notes.md <<-EOF\n\trm -rf /\n\tEOF',
  "python3 - <<'EOF'\ndel frame\nEOF",
  'echo "rm -rf /" | grep rm',
  'echo "rm -rf /" > notes.txt',
  `echo "$(date) rm -rf /"`,
  'git log --since="$(date -d yesterday +%F)" | head',
  'echo aGVsbG8gd29ybGQ= | base64 -d',
])('what is only written or told is no command: %s', (command) => {
  expect(run(command)).toEqual([]);
});

describe('in linear time', () => {
  const shapes = [
    '"$(',
    '"`',
    '"$(a)" ',
    '$(case a in ',
    '"$(case a) ',
    'cat <<a\na\n',
    'cat <<a\n',
    'cat <<a <<b\n',
    "cat <<'a'\n\ta\n",
    "it's ",
    'bash <<< a ',
    'echo a | bash | ',
    'echo a | cat | ',
    'cat <<a | sh\nrm a\na\n',
    'base64 -d <<< YWFh | ',
  ];
  it.each(shapes)('%j', (shape) => {
    const began = performance.now();
    run(shape.repeat(64_000 / shape.length));
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
