/**
 * Builds the Rego compiler's WebAssembly from the Go module beside this file.
 *
 * npm run compiler:build builds and writes artifact/
 * npm run compiler:verify runs the Go tests, builds and compares with artifact/
 *
 * The WebAssembly is reproducible byte for byte with the Go version in go.mod; the sums file has
 * its SHA-256. The compressed file's sum applies to the file in the repository: another Node
 * version may compress differently, so --verify compares the decompressed bytes. Without Go,
 * --verify reports that and succeeds.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));
const compressedPath = join(here, 'artifact/rego-compiler.wasm.br');
const sumsPath = join(here, 'artifact/SHA256SUMS');
const goVersion = /^go (\S+)$/m.exec(readFileSync(join(here, 'go.mod'), 'utf8'))?.[1];
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

function build() {
  const folder = mkdtempSync(join(tmpdir(), 'rego-compiler-'));
  try {
    const out = join(folder, 'rego-compiler.wasm');
    execFileSync(
      'go',
      [
        'build',
        '-mod=readonly',
        '-trimpath',
        '-buildvcs=false',
        '-buildmode=c-shared',
        '-ldflags=-s -w -buildid=',
        '-o',
        out,
        '.',
      ],
      {
        cwd: here,
        stdio: 'inherit',
        env: {
          ...process.env,
          GOOS: 'wasip1',
          GOARCH: 'wasm',
          GOWASM: '',
          GOFLAGS: '',
          GOEXPERIMENT: '',
          CGO_ENABLED: '0',
          GOTOOLCHAIN: `go${goVersion}`,
        },
      },
    );
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasGo() {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const verify = process.argv.includes('--verify');
if (verify && !hasGo()) {
  console.log('Skipped: rebuilding the Rego compiler needs Go, and there is no `go` on the PATH.');
  process.exit(0);
}
if (verify) execFileSync('go', ['test', './...'], { cwd: here, stdio: 'inherit' });
const wasm = build();
if (verify) {
  const stored = brotliDecompressSync(readFileSync(compressedPath));
  if (!stored.equals(wasm)) {
    console.error(
      `The artifact differs from its sources.\n  built  ${sha256(wasm)} (${wasm.length} bytes)\n  stored ${sha256(stored)} (${stored.length} bytes)\nRun node policies/compiler/build.mjs and commit the result.`,
    );
    process.exit(1);
  }
  console.log(`The artifact is its sources' build, byte for byte: ${sha256(wasm)}`);
} else {
  mkdirSync(join(here, 'artifact'), { recursive: true });
  const compressed = brotliCompressSync(wasm, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length,
    },
  });
  writeFileSync(compressedPath, compressed);
  writeFileSync(
    sumsPath,
    `${sha256(wasm)}  rego-compiler.wasm\n${sha256(compressed)}  rego-compiler.wasm.br\n`,
  );
  console.log(`${wasm.length} bytes, ${compressed.length} compressed`);
}
