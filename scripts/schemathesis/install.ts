/** Schemathesis in its own Python environment under .tmp, kept for the next run. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';

/** Also where runs leave their findings. */
export const kept = join(projectRoot, '.tmp/schemathesis');

/** Installs what requirements.txt names, once. @returns the program; undefined without Python */
export function findSchemathesis(): string | undefined {
  const python = ['python3', 'python'].find(
    (name) => spawnSync(name, ['-m', 'venv', '--help'], { stdio: 'ignore' }).status === 0,
  );
  if (python === undefined) return undefined;
  const folder = join(kept, 'python');
  const isWindows = process.platform === 'win32';
  const programs = join(folder, isWindows ? 'Scripts' : 'bin');
  const own = join(programs, isWindows ? 'python.exe' : 'python');
  mkdirSync(kept, { recursive: true });
  if (!existsSync(own)) execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' });
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  execFileSync(own, [...install, '-r', requirements], { stdio: 'inherit' });
  return join(programs, isWindows ? 'schemathesis.exe' : 'schemathesis');
}
