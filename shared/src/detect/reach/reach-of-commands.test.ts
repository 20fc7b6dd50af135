/** Commands of platforms, of disks and of databases that reach far, and those that look like them. */
import { expect, it } from 'vitest';
import { cpuMs } from '../../testing/test-cpu.ts';
import { createCommandReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';

const run = createCommandReach({
  ...DEFAULT_BLAST_RADIUS,
  config_path_prefixes: ['/etc/', '~/.ssh/', 'C:\\Windows\\'],
});

const WHOLE = ['escalate delete_whole'];
const CONFIG = ['escalate config_path'];
const LISTED = ['escalate unreadable'];
const MANY = ['escalate email_recipients'];
const ALL = ['escalate delete_wildcard'];
const SQL = ['escalate sql_without_where'];
const TOP = ['deny delete_depth'];

it.each<[string, string[]]>([
  ['git rm -rf .', WHOLE],
  ['git rm -r --cached .', []],
  ['git rm src/old.ts', []],
  ['git rm -rf *', WHOLE],
  ['git rm -r docs/old/*.md', []],
  ['kind delete cluster --name ci', []],
  ['kind delete clusters --all', WHOLE],
  ['git reflog expire --expire=now --all', WHOLE],
  ['git reflog', []],
  ["git for-each-ref --format='delete %(refname)' | git update-ref --stdin", WHOLE],
  ['docker compose -p shop -f a.yml down -v', WHOLE],
  ['docker compose -p shop down', []],
  ['kubectl scale deploy --all --replicas=0 -n shop', WHOLE],
  ['kubectl scale deploy web --replicas=0 -n shop', []],
  ['kubectl taint nodes --all a=b:NoExecute', WHOLE],
  ['kubectl taint nodes one a=b:NoExecute', []],
  ['terraform workspace delete -force prod', WHOLE],
  ['terraform state list | xargs terraform state rm', LISTED],
  ['terraform state rm module.db', []],
  ['pulumi stack rm prod --force', WHOLE],
  ['vault kv list a | xargs -I{} vault kv metadata delete secret/{}', LISTED],
  ['vault kv delete secret/app', []],
  ["docker ps -aq | xargs -I{} sh -c 'docker rm -f {}'", LISTED],
  ["aws dynamodb delete-item --table-name t --key '{}'", []],
  ['gcloud storage rm gs://a/**', WHOLE],
  ['gcloud storage rm gs://a/tmp/b.txt', []],
  ['gcloud storage cp gs://a/** b', []],
  ['gcloud dns managed-zones delete a', WHOLE],
  ['gcloud dns record-sets delete www.a.example --zone=a --type=A', []],
  ['aws sqs purge-queue --queue-url a', WHOLE],
  ['rabbitmqctl purge_queue a', WHOLE],
  ['pg_restore --clean -d prod a.dump', WHOLE],
  ['pg_restore -Fc -d prod a.dump', []],
  ['npm unpublish @a/b --force', WHOLE],
  ['npm uninstall a', []],
  ['supabase db reset --linked', WHOLE],
  ['supabase db reset', []],
  ['npx sequelize-cli db:drop', WHOLE],
  ['bin/console doctrine:database:drop --force', WHOLE],
  ['zfs rollback -r a/b@c', WHOLE],
  ['hdparm --user-master u --security-erase p /dev/sda', ['deny delete_whole']],
  ['hdparm -I /dev/sda', []],
  ['wevtutil cl Security', WHOLE],
  ['wevtutil qe Security', []],
  ['helmfile destroy', WHOLE],
  ['helmfile diff', []],
  ['kubectl delete -k overlays/prod', WHOLE],
  ['kubectl delete -f web.yaml', []],
  ['vagrant destroy -f', WHOLE],
  ['vagrant halt', []],
  ['podman system reset -f', WHOLE],
  ['mongorestore --drop dump', WHOLE],
  ['mongorestore dump', []],
  ['schtasks /delete /tn * /f', WHOLE],
  ['schtasks /delete /tn one /f', []],
  ['sfdisk --delete /dev/sda', ['deny delete_whole']],
  ['sfdisk -l', []],
  ['mkswap /dev/sda2', ['deny delete_whole']],
  ['mkswap /swapfile', []],
  ['Remove-AzResourceGroup -Name prod -Force', WHOLE],
  ['Remove-AzResourceGroup -Name prod -WhatIf', []],
  ['Remove-AzTag -Name a', []],
  ['reg delete HKLM\\Software\\A /f', WHOLE],
  ['reg delete HKLM\\Software\\A /v b /f', []],
])('%s', (command, found) => expect(run(command)).toEqual(found));

it.each<[string, string[]]>([
  ['tar -cf /dev/null /srv --remove-files', TOP],
  ['tar -czf a.tgz --remove-files src/web/old', []],
  ['zip -rm a.zip /srv', TOP],
  ['zip -r a.zip /srv', []],
  ['7z a -sdel a.7z /srv', TOP],
  ['rsync -a --remove-source-files /srv/ host:/b/c/d/', TOP],
  ['robocopy C:\\a D:\\data /MIR', TOP],
  ['robocopy C:\\a\\b D:\\c\\d /E', []],
  ["ansible all -b -m file -a 'path=/srv state=absent'", TOP],
  ["ansible all -m copy -a 'src=a dest=/etc/motd'", CONFIG],
  ["ansible web -m file -a 'path=/srv/app/cache/old state=absent'", []],
  ['userdel -r anna', [...CONFIG, 'escalate delete_depth']],
  ['userdel anna', []],
  ['truncate -s 0 /srv/*', ['deny delete_wildcard']],
  ['truncate -s 0 /srv/a.log', []],
  ['find /srv -type f -exec truncate -s0 {} +', ['deny delete_wildcard']],
  ['setfacl -R -b /srv', TOP],
  ['setfacl -R -m u:a:r /srv/a/b/c', []],
  ["bash <(echo 'rm -rf /srv')", TOP],
  ["bash build.sh; echo 'rm -rf /srv'", []],
  ["perl -e 'system(q(rm -rf /srv))'", TOP],
  ["perl -e 'print q(rm -rf /srv)'", []],
  ['visudo -f /etc/sudoers.d/x', CONFIG],
  ['visudo -c', []],
  ['systemctl edit --full sshd', CONFIG],
  ['systemctl cat sshd', []],
  ['ssh-copy-id a@host', CONFIG],
  ['ssh-copy-id --help', []],
  ["'x' | Out-File $env:windir\\System32\\a.txt", CONFIG],
])('what goes from one place and is kept in another: %s', (command, found) => {
  expect(run(command)).toEqual(found);
});

it.each<[string, string[]]>([
  ["wrangler d1 execute prod --command 'DELETE FROM users'", SQL],
  ["wrangler d1 execute prod --command 'SELECT 1'", []],
  ["gcloud spanner databases execute-sql a --sql='DELETE FROM users WHERE true'", SQL],
  ["bq query --dry_run 'DELETE FROM a.b WHERE TRUE'", []],
  ["bq query 'DELETE FROM a.b WHERE TRUE'", SQL],
  ["heroku pg:psql -c 'TRUNCATE users'", SQL],
  ["aws sns publish --message 'Delete the old ones from the table'", []],
  [`redis-cli EVAL "return redis.call('FLUSHALL')" 0`, ['deny sql_without_where']],
  [`redis-cli EVAL "return redis.call('GET', KEYS[1])" 1 a`, []],
  [`curl -XPOST 'http://es:9200/a/_delete_by_query' -d '{"query":{"match_all":{}}}'`, ALL],
  [`curl -XPOST 'http://es:9200/a/_delete_by_query' -d '{"query":{"term":{"id":7}}}'`, []],
  [`curl -XPOST 'http://es:9200/a/_search' -d '{"query":{"match_all":{}}}'`, []],
  ["curl 'http://solr:8983/solr/a/update' -d '<delete><query>*:*</query></delete>'", ALL],
  ['psql -c "DROP STREAM a"', SQL],
  [`psql -c "DO $$ BEGIN EXECUTE 'DROP TABLE a'; END $$"`, SQL],
  [`psql -c "EXECUTE IMMEDIATE 'DELETE FROM a WHERE id = 1'"`, []],
  [`sqlcmd -Q "EXEC sp_MSforeachtable 'DELETE FROM ?'"`, SQL],
  [`sqlcmd -Q "EXEC xp_cmdshell 'rd /s /q C:\\data'"`, TOP],
  [`psql -c "EXECUTE format('DROP TABLE %I', a)"`, SQL],
  ['for a in $(cat all.txt); do mail -s hi $a < m; done', MANY],
  ['cat all.txt | xargs -n1 mail -s hi', MANY],
  ['mail -s "$(date)" a@b.example < m', []],
])('what is handed on: %s', (command, found) => expect(run(command)).toEqual(found));

it.each([
  'docker compose -p a -f b ',
  'xargs -I{} docker rm {} {} ',
  'rsync --remove-source-files a b ',
  'aws x "delete from a" ',
  'gcloud storage rm a* ',
  'ansible -m file -a "path=/a state=absent" ',
  'bash <(echo a) ',
  'bash <(echo a); ',
  `sqlcmd -Q "EXEC 'EXEC ''a'''" `,
  `perl -e 'q(' `,
  `redis-cli EVAL "redis.call('a')" `,
])('reads %s in linear time', (text) => {
  for (const line of [text.repeat(60_000 / text.length), text + 'a '.repeat(30_000)]) {
    const from = cpuMs();
    run(line);
    expect(cpuMs() - from).toBeLessThan(5_000);
  }
});
