/**
 * A script of the repository as one file, for tests that run it again and again in a process of its
 * own: compiling its sources anew took most of the CPU of such a process.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { afterAll } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Packages from npm stay outside, as in the service's own build. */
const npmOutside: Plugin = {
  name: 'npm-outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@governance/')
        ? undefined
        : { path, external: true },
    ),
};

/**
 * Call it at the top of a test file; the script is removed after the last test. Not for one that
 * starts workers, whose files it would not find.
 *
 * @param path of the script, from the repository's folder
 * @returns the path of the one file
 */
export async function bundledScript(path: string): Promise<string> {
  // Beside the repository's packages, so that imports resolve.
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(root, '.tmp/script-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'script.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: [path],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'warning',
    plugins: [npmOutside],
  });
  return outfile;
}
