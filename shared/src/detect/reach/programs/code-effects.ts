/** What functions of languages and their libraries do, by their names. */
import { wordSet } from '../word-set.ts';

export type Effect =
  | 'run'
  | 'sql'
  | 'delete'
  | 'tree'
  | 'write'
  | 'open'
  | 'move'
  | 'copy'
  | 'path'
  | 'list';

export const EFFECTS = new Map<string, Effect>();
const tell = (effect: Effect, names: string) => {
  for (const name of names.split(' ')) EFFECTS.set(name, effect);
};
tell('run', 'system popen Popen run call check_call check_output getoutput getstatusoutput');
tell('run', 'exec execl execle execlp execlpe execv execve execvp execvpe execSync execFile');
tell('run', 'execFileSync execa execaSync execaCommand execaCommandSync shell_exec passthru');
tell('run', 'spawn spawnSync spawnl spawnlp spawnv spawnvp posix_spawn posix_spawnp proc_open');
tell('run', 'pcntl_exec capture2 capture2e capture3 Command create_subprocess_exec');
tell('run', 'create_subprocess_shell');
tell('tree', 'rmtree remove_tree rm_rf rm_r remove_dir remove_entry remove_entry_secure rimraf');
tell('tree', 'rimrafSync emptyDir emptyDirSync');
tell('delete', 'rm rmSync rm_f rmdir rmdirSync unlink unlinkSync removedirs');
tell('write', 'writeFile writeFileSync appendFile appendFileSync createWriteStream');
tell('write', 'file_put_contents writeTextFile writeTextFileSync outputFile outputFileSync');
tell('open', 'open fopen openSync');
tell('move', 'rename renameSync');
tell('copy', 'copyFile copyFileSync copyfile copytree cpSync');
tell('path', 'Path Pathname');
tell(
  'list',
  'walk listdir scandir glob iglob globSync readdir readdirSync readDirSync children each_child',
);
tell('sql', 'execute executescript executemany query sql raw exec_driver_sql $executeRawUnsafe');

/** Names that mean many things, and these of a module for files. */
export const OF_FILES = new Map<string, Effect>([
  ['execute', 'run'],
  ['remove', 'delete'],
  ['removeSync', 'delete'],
  ['delete', 'delete'],
  ['write', 'write'],
  ['binwrite', 'write'],
  ['move', 'move'],
  ['mv', 'move'],
  ['replace', 'move'],
  ['copy', 'copy'],
  ['copy2', 'copy'],
  ['cp', 'copy'],
  ['cp_r', 'copy'],
]);
/** Libraries for requests over HTTP. */
export const CLIENTS = wordSet('requests httpx axios session got ky http');
export const FILES = wordSet('os fs fsp fse promises Deno Bun shutil File Dir IO FileUtils');
