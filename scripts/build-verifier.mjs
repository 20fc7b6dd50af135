// `npm run build:verifier`: bundles the command `verify` into one file,
// dist-verifier/verify-evidence.mjs, which runs with bare Node, without node_modules.
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
