/**
 * Packages that are not dependencies of this project, each in its own folder under .tmp and kept
 * for the next run; and a Node 22 for those that need it.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where they are. */
export const kept = join(import.meta.dirname, '../../.tmp/conformance');
const NODE_22 = '22.23.3';

/** The Node that runs what needs Node 22: this one, if it is new enough. */
export async function installNode22(): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  return install(`node@${NODE_22}`, 'node_modules/node/bin/node');
}

/**
 * Installs a package, unless it is already installed.
 *
 * @param spec name and exact version
 * @param file of the installed package, relative to the folder
 * @returns the absolute path of the file
 * @throws with npm's message if npm does not install it
 */
export async function install(spec: string, file: string): Promise<string> {
  const folder = join(kept, spec.replaceAll(/[@/]+/g, '-').replace(/^-/, ''));
  const installed = join(folder, file);
  if (await isFile(installed)) return installed;
  await mkdir(kept, { recursive: true });
  // Installed beside it and then renamed, so that an interrupted install is not taken for a
  // complete one.
  const fresh = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(fresh, 'package.json'), '{"private":true}\n');
    const npm = await run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--save-exact', spec],
      fresh,
    );
    if (npm.code !== 0 || !(await isFile(join(fresh, file)))) {
      throw new Error(`npm did not install ${spec}:\n${npm.output}`);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return installed;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Runs a program to completion. @returns its exit code and the end of its output */
export async function run(
  command: string,
  args: string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}
