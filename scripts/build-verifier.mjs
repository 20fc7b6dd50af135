// `npm run build:verifier`: the command `verify` as one file that bare Node runs, without
// node_modules: dist-verifier/verify-evidence.mjs.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @returns the path of the file */
export async function buildVerifier({ outdir = join(root, 'dist-verifier') } = {}) {
  const outfile = join(outdir, 'verify-evidence.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['verifier/src/verify-evidence.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return outfile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await buildVerifier());
