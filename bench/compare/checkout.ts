/** Another commit of the project, built unchanged with this checkout's packages. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BENCH_ENTRY_POINTS, type Build } from '../processes.ts';

export interface Checkout {
  build: Build;
  commit: string;
  /** Whether it declares other packages than those it was given. */
  hasOtherPackages: boolean;
  remove(): void;
}

/**
 * Checks a commit out below `.tmp` and builds it there.
 *
 * @param ref any name of a commit
 * @throws Error if there is no such commit or it does not build
 */
export function checkOut(root: string, ref: string): Checkout {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const commit = findCommit(root, ref);
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(root, '.tmp', `bench-${commit.slice(0, 8)}-`));
  const remove = () => {
    try {
      git('worktree', 'remove', '--force', folder);
    } catch {
      rmSync(folder, { recursive: true, force: true });
      git('worktree', 'prune');
    }
  };
  try {
    git('worktree', 'add', '--quiet', '--detach', folder, commit);
    linkPackages(root, folder);
    execFileSync(process.execPath, ['scripts/prepare.mjs'], { cwd: folder, stdio: 'inherit' });
    const build = { root: folder, outdir: join(folder, '.tmp', 'bench') };
    buildApart(build);
    const lock = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8');
    return { build, commit, hasOtherPackages: lock(root) !== lock(folder), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function findCommit(root: string, ref: string): string {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`there is no commit ${ref}`);
  return stdout.trim();
}

/**
 * Links the packages installed here into a checkout. Its workspaces are linked to its own folders,
 * or it would run this checkout's code.
 */
function linkPackages(root: string, folder: string): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@governance'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@governance') continue;
    symlinkSync(realpathSync(join(root, 'node_modules', name)), join(modules, name));
  }
  for (const workspace of manifest.workspaces) {
    symlinkSync(join(folder, workspace), join(modules, '@governance', workspace));
    const own = join(root, workspace, 'node_modules');
    if (existsSync(own)) symlinkSync(realpathSync(own), join(folder, workspace, 'node_modules'));
  }
}

/** With its own build script, in a separate process. */
function buildApart({ root, outdir }: Build): void {
  const script = pathToFileURL(join(root, 'scripts/build.mjs')).href;
  const entries = BENCH_ENTRY_POINTS.filter((path) => existsSync(join(root, path)));
  const code = `
    const { buildService } = await import(${JSON.stringify(script)});
    await buildService(${JSON.stringify({ outdir, extraEntryPoints: entries })});
  `;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    stdio: 'inherit',
  });
}
