/** The foreign clients and servers: a Python environment and two Go programs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';

const sources = import.meta.dirname;
const cache = join(projectRoot, '.tmp/foreign');

export interface Program {
  command: string;
  args: string[];
}

/** A library's client, and its server if there is one here. */
export interface Toolchain {
  name: 'Python' | 'Go';
  client(library: string, credential: string): Program;
  server(library: string, where: string): Program;
}

function hasCommand(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Installs what python/requirements.txt names, once; undefined without Python. */
export function preparePython(): Toolchain | undefined {
  const python = ['python3', 'python'].find((name) => hasCommand(name, ['-m', 'venv', '--help']));
  if (!python) return undefined;
  const folder = join(cache, 'python');
  const own = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  mkdirSync(cache, { recursive: true });
  if (!existsSync(own)) execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' });
  const requirements = join(sources, 'python/requirements.txt');
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  execFileSync(own, [...install, '-r', requirements], { stdio: 'inherit' });
  const script = (name: string) => join(sources, 'python', name);
  return {
    name: 'Python',
    client: (library, credential) => ({
      command: own,
      args: [script('client.py'), library, credential],
    }),
    server: (library, where) => ({ command: own, args: [script('server.py'), library, where] }),
  };
}

/** Builds both programs; undefined without Go. */
export function prepareGo(): Toolchain | undefined {
  if (!hasCommand('go', ['version'])) return undefined;
  mkdirSync(cache, { recursive: true });
  const built = (name: string) => join(cache, `go-${name}`);
  for (const name of ['client', 'server']) {
    const args = ['build', '-o', built(name), `./${name}`];
    execFileSync('go', args, { cwd: join(sources, 'go'), stdio: 'inherit' });
  }
  return {
    name: 'Go',
    client: (library, credential) => ({ command: built('client'), args: [library, credential] }),
    server: (_library, where) => ({ command: built('server'), args: [where] }),
  };
}
