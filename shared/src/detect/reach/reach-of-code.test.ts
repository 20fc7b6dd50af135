/** What code does that a command line gives to an interpreter. */
import { expect, it } from 'vitest';
import { createCommandReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';
import { createReachFinder } from './reach.ts';

const find = createReachFinder(DEFAULT_BLAST_RADIUS);
const run = createCommandReach();

const ROOT = ['deny delete_depth', 'escalate config_path'];
const TOP = ['deny delete_depth'];
const LISTED = ['escalate delete_depth'];
const CONFIG = ['escalate config_path'];
const KEY = ['deny protected_file'];

it.each([
  [`python -c 'import os; os.system("rm -rf /")'`, ROOT],
  [`sudo python3.11 -Ic "import os; os.system('rm -rf /')"`, ROOT],
  [`python3 -c"__import__('os').popen('rm -rf /')"`, ROOT],
  [`python3 -c "import subprocess as s; s.run(['rm', '-rf', '/'], cwd='/srv/a/b')"`, ROOT],
  [`python3 -c "import subprocess; subprocess.check_output(args=('sh', '-c', 'rm -rf /'))"`, ROOT],
  [`python3 -c 'import os; os.execvp("rm", ["rm", "-rf", "/"])'`, ROOT],
  [`python3 -c 'import os; os.spawnlp(os.P_WAIT, "rm", "rm", "-rf", "/")'`, ROOT],
  [`python3 -c 'import os; os.system("""rm -rf /""")'`, ROOT],
  [`python3 -c 'import os; os.system("rm -rf " + "/")'`, ROOT],
  [`python3 -c 'import os; os.system("\\x72m -rf /")'`, ROOT],
  [`python3 -c "import shutil; shutil.rmtree('/srv')"`, TOP],
  [`python3 -c "import pathlib; pathlib.Path('/srv').rmdir()"`, TOP],
  [`python3 -c "open('/etc/motd', 'w').write('a')"`, CONFIG],
  [`python3 -c "open('/etc/motd', mode='ab')"`, CONFIG],
  [`python3 -c "from pathlib import Path; Path('/etc/motd').write_text('a')"`, CONFIG],
  [`python3 -c "import os; os.remove('tls/site.key')"`, KEY],
  [`python3 -c "import os; os.rename('/srv', '/tmp/a/b')"`, TOP],
  [`node -e "require('fs').rmSync('/srv', { recursive: true })"`, TOP],
  [`node --eval="require('child_process').execSync('rm -rf /')"`, ROOT],
  [`node -e "require('child_process').spawn('rm', ['-rf', '/'], { stdio: 'inherit' })"`, ROOT],
  [`node -e "require('fs').promises.writeFile('/etc/motd', 'a')"`, CONFIG],
  [`node -p "require('fs').appendFileSync('a/site.pem', 'b')"`, KEY],
  [`deno eval "await Deno.remove('/srv', { recursive: true })"`, TOP],
  [`deno eval "new Deno.Command('rm', { args: ['-rf', '/'] }).spawn()"`, ROOT],
  ["bun -e 'await Bun.$`rm -rf /`'", ROOT],
  [`perl -e 'system("rm -rf /")'`, ROOT],
  [`perl -e 'system "rm", "-rf", "/"'`, ROOT],
  ["perl -e 'print `rm -rf /`'", ROOT],
  [`perl -e 'print qx{rm -rf /}'`, ROOT],
  [`perl -MFile::Path -e 'rmtree("/srv")'`, TOP],
  [`perl -e 'open(my $f, ">", "/etc/motd")'`, CONFIG],
  [`perl -e 'open(F, ">>/etc/motd")'`, CONFIG],
  [`perl -e 'open(F, "| rm -rf /")'`, ROOT],
  [`ruby -e 'system("rm -rf /")'`, ROOT],
  [`ruby -e 'puts %x(rm -rf /)'`, ROOT],
  [`ruby -rfileutils -e 'FileUtils.rm_rf "/srv"'`, TOP],
  [`ruby -e 'File.write("/etc/motd", "a")'`, CONFIG],
  [`ruby -e 'File.open("/etc/motd", "w") { |f| f << 1 }'`, CONFIG],
  [`php -r 'shell_exec("rm -rf /");'`, ROOT],
  [`php -r 'unlink("/srv");'`, TOP],
  [`php -r 'file_put_contents("/etc/motd", "a");'`, CONFIG],
  [`docker exec web python -c 'import os; os.system("rm -rf /")'`, ROOT],
  [`ssh host 'perl -e "system(\\"rm -rf /\\")"'`, ROOT],
])('code reaches far: %s', (command, expected) => {
  expect(run(command)).toEqual(expected);
});

it.each([
  `python -c 'print("rm -rf /")'`,
  `python -c 'import os; os.system("date")'`,
  `python3 -c "import subprocess; subprocess.run(['rm', '-rf', 'a/b/c/d'], cwd='/')"`,
  `python3 -c "import shutil; shutil.rmtree('/srv/app/build/out')"`,
  `python3 -c "import shutil; shutil.rmtree('/srv/app/build/' + name)"`,
  `python3 -c "import shutil; shutil.rmtree(path)"`,
  `python3 -c "items.remove('/')"`,
  `python3 -c "print(open('/etc/hosts').read())"`,
  `python3 -c "print('a'.replace('/', '/etc/motd'))"`,
  `python3 -m json.tool a.json`,
  `node -e "console.log(\\\`rm -rf /\\\`)"`,
  `node -e "require('fs').readFileSync('/etc/hosts')"`,
  `node -e "require('fs').writeFileSync('out/a.json', '/etc/motd')"`,
  `node -e "require('fs').rmSync('/srv/app/build/out', { recursive: true })"`,
  `perl -pe 's/rm -rf/unlink/' a/b.txt`,
  `perl -e 'print "system(1)"'`,
  `perl -e 'open(F, "<", "/etc/hosts")'`,
  `ruby -e 'puts [1, 2].sum'`,
  `php -r 'echo date("Y");'`,
  `awk 'BEGIN{system("date")}' a/b.txt`,
  `node build.js --out=dist`,
])('code stays within bounds: %s', (command) => {
  expect(run(command)).toEqual([]);
});

it('what is hostile takes no more time than what is as long', { timeout: 180_000 }, () => {
  const texts = [
    'system(',
    'system("',
    'system(\'system("',
    'system("\\\\',
    'open(my $f,',
    'call(a, ',
    'rm("a"+',
    'Path("a") . ',
    'qx(',
    '`\\`',
    '$`',
    'a . ',
    'rm("a", recursive ',
    '[,(',
    'os.walk("/a") os.remove(f) ',
    'Path("/a").rglob(',
    'get_repo(',
    'array_map("unlink", glob("/a/*"',
  ];
  for (const text of texts) {
    const long = text.repeat(60_000 / text.length);
    for (const name of ['perl', 'awk', 'node']) {
      const began = process.cpuUsage();
      find({ name: 'run', action: 'execute', args: { command: [name, '-e', long] } });
      find({ name: 'run', action: 'execute', args: { command: `${name} -e '${long}'` } });
      const { user, system } = process.cpuUsage(began);
      // A second, if it is linear; of CPU time, since other tests run meanwhile.
      expect((user + system) / 1e6, text).toBeLessThan(10);
    }
  }
});

const runs = (code: string) =>
  find({ name: 'run_python', action: 'execute', args: { code } })
    .map(({ rule, verdict }) => `${verdict} ${rule}`)
    .sort();

it.each([
  ["home = os.path.expanduser('~')\nshutil.rmtree(home)", ['deny delete_depth']],
  ["shutil.rmtree(os.path.join('/', 'srv'))", ['deny delete_depth']],
  ["base = '/srv'\nshutil.rmtree(f'{base}')", ['deny delete_depth']],
  ["cmd = 'rm -rf /srv'\nos.system(cmd)", ['deny delete_depth']],
  ["open(os.path.join('/etc', 'hosts'), 'w')", ['escalate config_path']],
  ["fs.appendFileSync(os.homedir() + '/a.pem', 'x')", ['deny protected_file']],
  ["cursor.execute('DELETE FROM users')", ['escalate sql_without_where']],
  ["boto3.client('s3').delete_bucket(Bucket='a')", ['escalate delete_whole']],
  ['bucket.objects.all().delete()', ['escalate delete_whole']],
  ['client.send(new DeleteTableCommand({ TableName: "a" }))', ['escalate delete_whole']],
  ["base = '/srv/app/cache/old'\nshutil.rmtree(base)", []],
  ["base = '/'\nbase += 'srv/app/cache/old'\nshutil.rmtree(base)", []],
  ["base = '/'\nbase += 'srv'\nshutil.rmtree(base)", ['deny delete_depth']],
  ["a = 'out.txt'\nopen(a, 'w')\na = '/etc/hosts'\nopen(a)", []],
  ["a = '/srv'\nshutil.rmtree(a)\na = 'out'", ['deny delete_depth']],
  ["def clean():\n  shutil.rmtree(a)\na = '/srv'\nclean()", ['deny delete_depth']],
  ["sql = 'DELETE FROM t'\nsql += ' WHERE id = 1'\ncursor.execute(sql)", []],
  ["shutil.rmtree(os.path.join('/srv', 'app', 'cache', 'old'))", []],
  ["requests.delete('https://api.github.com/repos/acme/web')", ['escalate delete_whole']],
  ["requests.delete('https://api.example.com/v1/todos/1')", []],
  ["os.remove(os.path.join('/tmp', name))", []],
  ["shutil.rmtree(Path('/srv') / 'app' / 'cache' / name)", []],
  ["shutil.rmtree(Path('/') / 'srv')", ['deny delete_depth']],
  ['folder = tempfile.mkdtemp()\nshutil.rmtree(folder)', []],
  ["cursor.execute('DELETE FROM users WHERE id = %s', (1,))", []],
  ["s3.delete_object(Bucket='a', Key='b/c')", []],
  ["frame = pd.read_csv('a.csv')\nframe.query('a > 1').to_csv('b.csv')", []],
])('names and calls of libraries: %s', (code, found) => expect(runs(code)).toEqual(found));

it.each<[string, string[]]>([
  [`for r, d, f in os.walk('/home'):\n  for x in f: os.remove(os.path.join(r, x))`, LISTED],
  ["[p.unlink() for p in Path('/srv').rglob('*')]", LISTED],
  ["[os.remove(f) for f in glob.glob('/var/lib/*')]", ['escalate delete_wildcard']],
  ["for f in os.listdir('/srv/app/cache/old'): os.remove(os.path.join(base, f))", []],
  ["for f in os.listdir('/home'): print(f)", []],
  ["files = os.listdir('out')\nfor f in files: os.remove(f)", []],
  ["Github(t).get_repo('acme/web').delete()", ['escalate delete_whole']],
])('code that deletes what it lists: %s', (code, found) => expect(runs(code)).toEqual(found));

it.each<[string, string[]]>([
  [`php -r 'array_map("unlink", glob("/home/*/*.*"));'`, ['escalate delete_wildcard']],
  [`php -r 'print_r(glob("/home/*"));'`, []],
  [`node -e "fs.readdirSync('/srv').forEach(f => fs.unlinkSync(f))"`, LISTED],
  [`node -e "require('fs').rmSync(require('os').homedir(), {recursive: true})"`, TOP],
  [`pwsh -c '[System.IO.Directory]::Delete("C:\\Users", $true)'`, TOP],
  [`[IO.File]::WriteAllText('/etc/motd', 'x')`, CONFIG],
  [`[IO.File]::ReadAllText('/etc/motd')`, []],
  ['Get-ChildItem D:\\ -Recurse | ForEach-Object { $_.Delete() }', ['deny delete_wildcard']],
  ['$x=gci C:\\Users; foreach($y in $x){ri $y.FullName -r -fo}', LISTED],
  ['$x=gci C:\\Users; foreach($y in $x){ $y.FullName }', []],
])('%s', (command, found) => expect(run(command)).toEqual(found));
