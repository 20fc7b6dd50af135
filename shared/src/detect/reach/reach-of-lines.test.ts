/** What stands behind substitutions, in here-documents and in pipes of a command line. */
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createCommandReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';

const find = createReachFinder(DEFAULT_BLAST_RADIUS);
const run = createCommandReach();

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

it.each([
  ...['systemd-run', 'strace -f', 'taskset 1', 'gosu root', 'pkexec', 'sshpass -p a ssh host'],
  ...['uv run', 'poetry run --', 'op run --', 'aws-vault exec a --', 'conda run -n a'],
])('a command stands behind %s', (before) => {
  expect(run(`${before} rm -rf /`)).toEqual(ROOT);
});

it.each([
  'trap "rm -rf /" EXIT',
  'tmux send-keys "rm -rf /" Enter',
  'ansible all -a "rm -rf /"',
])('a line stands behind %s', (command) => {
  expect(run(command)).toEqual(ROOT);
});

it.each([
  'kubectl delete namespace/prod',
  'kubectl -n a delete pvc data',
  'terragrunt run-all destroy',
  'heroku pg:reset DATABASE',
  'bundle exec rake db:drop',
  'php artisan migrate:fresh',
  'npx prisma migrate reset --force',
  'docker-compose down -v',
  'etcdctl del / --prefix',
  'lvremove -f vg/data',
])('a whole store is deleted: %s', (command) => {
  expect(run(command)).toEqual(['escalate delete_whole']);
});

it.each([
  'sgdisk --zap-all /dev/sda',
  'parted /dev/sda mklabel gpt',
  'cryptsetup luksFormat a',
])('a disk is wiped: %s', (command) => {
  expect(run(command)).toEqual(['deny delete_whole']);
});

it.each([
  'kubectl delete pod/web-1',
  'kubectl delete -f namespace/a.yaml',
  'heroku pg:info',
  'rake db:migrate',
  'php artisan migrate',
  'npx prisma migrate dev',
  'docker-compose down',
  'etcdctl del a',
  'parted /dev/sda print',
  'cryptsetup status a',
  'uv pip install a',
  'poetry remove a',
  'bundle install --path vendor/a',
  'op item get a',
  'conda create -n rm',
])('nothing whole is deleted: %s', (command) => {
  expect(run(command)).toEqual([]);
});

it.each([
  ['find . -name "*.pyc" -delete', ['escalate delete_wildcard']],
  ['find . -name "*" -delete', ['deny delete_wildcard']],
  ['find . -name "*.pyc" -o -type f -delete', ['deny delete_wildcard']],
  ['find . ! -name "keep.txt" -delete', ['deny delete_wildcard']],
  ['find / -name "*.log" -delete', ['deny delete_wildcard', 'escalate config_path']],
])('find deletes what it is bound to: %s', (command, found) => {
  expect(run(command)).toEqual(found);
});

it.each([
  ['run_python', 'import shutil; shutil.rmtree("/srv")', ['deny delete_depth']],
  ['execute_code', 'import os; os.system("rm -rf /")', ROOT],
  ['jupyter_execute_cell', 'a = 1\n!rm -rf /', ROOT],
  ['execute_code', '%%bash\ncd /\nrm -rf /', ROOT],
  ['run_python', 'del frame\nframe.drop("/srv")', []],
  ['search_code', 'shutil.rmtree("/srv")', []],
  ['browser_run_code', 'page.remove("/srv")', []],
])('code that %s is given', (name, code, found) => {
  const findings = find({ name, action: 'execute', args: { code } });
  expect(findings.map(({ rule, verdict }) => `${verdict} ${rule}`).sort()).toEqual(found);
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
    const began = cpuMs();
    run(shape.repeat(64_000 / shape.length));
    expect(cpuMs() - began).toBeLessThan(10_000);
  });
});

it.each([
  'aws ec2 terminate-instances --instance-ids $(aws ec2 describe-instances --output text)',
  'IDS=$(aws ec2 describe-instances); aws ec2 terminate-instances --instance-ids $IDS',
  'for i in $(cat list); do aws ec2 terminate-instances --instance-ids "$i"; done',
  'az vm delete --yes --ids $(az vm list --query "[].id")',
  'gcloud compute instances delete $(gcloud compute instances list) --zone a',
  'docker ps -aq | xargs -r sudo docker rm -f',
  'docker rmi $(docker images -q)',
  'kubectl get pods -o name | xargs kubectl delete',
  'kubectl delete pod -n prod $(kubectl get pods -o name)',
  'for p in $(kubectl get pods -o name); do kubectl delete $p; done',
  'kubectl get pods | while read p; do kubectl delete pod $p; done',
  'gh release list | cut -f1 | xargs -n1 gh release delete -y',
  "redis-cli --scan --pattern '*' | xargs redis-cli del",
  'cut -d: -f1 users | xargs -n1 userdel -r',
  'Get-AzVM | Remove-AzVM -Force',
  'Get-ADUser -Filter * | ForEach-Object { Remove-ADUser $_ }',
])('%s deletes what another command lists', (command) => expect(run(command)).toEqual(LISTED));

it.each([
  'kubectl delete pod web-1 -n $(kubens -c)',
  'kubectl delete pod web-$(date +%F)',
  'kubectl delete -f $(pwd)/pod.yaml',
  'kubectl delete pod $POD',
  "kubectl delete pod $(kubectl get pod -o jsonpath='{.items[0].metadata.name}')",
  'kubectl delete $(kubectl get pod -o name | head -1)',
  'kubectl exec $(kubectl get pod -o name) -- rm -rf /srv/a/b/c',
  'aws s3api delete-object --bucket a --key $(cat key)',
  'aws ec2 describe-instances --instance-ids $(cat list)',
  'docker run --rm -v $(pwd):/w node npm test',
  'git branch --merged | xargs git branch -d',
  'gh pr list | xargs -n1 gh pr view',
  'helm upgrade web ./chart --set tag=$(git rev-parse HEAD)',
  'Get-Job | Remove-Job',
  'Get-AzVM | Remove-AzVM -WhatIf',
])('%s does not', (command) => expect(run(command)).toEqual([]));
