/**
 * Builds the pattern engine's WebAssembly from the Rust beside this file.
 *
 *   npm run engine:build   builds and writes artifact/
 *   npm run engine:verify  checks artifact/ against its sums and the sources it was built from;
 *                          where that Rust is installed, also tests, builds and compares
 *
 * The WebAssembly is the same byte for byte wherever it is built with the Rust that
 * rust-toolchain.toml names. SHA256SUMS holds its sum, the compressed file's, and one of the
 * sources: an artifact that was not built again after a change is found without Rust. Another Node
 * may compress the same bytes differently, so --verify compares what comes out of it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gunzipSync, gzipSync } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));
const compressedPath = join(here, 'artifact/detect-engine.wasm.gz');
const sumsPath = join(here, 'artifact/SHA256SUMS');
const TARGET = 'wasm32-unknown-unknown';
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Of everything that decides what is built. Line ends as the repository stores them. */
function sourcesSum() {
  const sources = readdirSync(join(here, 'src'))
    .filter((name) => name.endsWith('.rs'))
    .sort()
    .map((name) => `src/${name}`);
  const files = ['Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', ...sources];
  const text = (file) => readFileSync(join(here, file), 'utf8').replaceAll('\r\n', '\n');
  return sha256(files.map((file) => `${sha256(text(file))}  ${file}\n`).join(''));
}

function sumsOf(wasm, compressed) {
  return [
    `${sha256(wasm)}  detect-engine.wasm`,
    `${sha256(compressed)}  detect-engine.wasm.gz`,
    `${sourcesSum()}  sources\n`,
  ].join('\n');
}

function build() {
  const folder = mkdtempSync(join(tmpdir(), 'detect-engine-'));
  const options = { cwd: here, stdio: 'inherit', env: environment() };
  execFileSync('cargo', ['fetch', '--quiet', '--locked', '--target', TARGET], options);
  const flags = [
    ...pathsOfThisMachine().map(([from, to]) => `--remap-path-prefix=${from}=${to}`),
    // 256 MiB, of which shared/src/detect/engine/engine-pool.ts uses less.
    '-Clink-arg=--max-memory=268435456',
  ];
  try {
    execFileSync('cargo', ['build', '--release', '--locked', '--target', TARGET], {
      ...options,
      env: {
        ...options.env,
        CARGO_TARGET_DIR: folder,
        CARGO_ENCODED_RUSTFLAGS: flags.join('\u001f'),
      },
    });
    return readFileSync(join(folder, TARGET, 'release/detect_engine.wasm'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Which stand in the messages of panics, and what is to stand there instead. */
function pathsOfThisMachine() {
  const crates = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry/src');
  const options = { cwd: here, encoding: 'utf8', env: environment() };
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], options).trim();
  return [
    [sysroot, 'rust'],
    [here, 'detect-engine/'],
    // A folder a registry, whose name depends on where the crates are fetched from.
    ...readdirSync(crates).map((registry) => [join(crates, registry), 'crates']),
  ];
}

/** What a person has set for other builds must not reach this one. */
function environment() {
  const { RUSTFLAGS, CARGO_BUILD_RUSTFLAGS, RUSTC_WRAPPER, RUSTUP_TOOLCHAIN, ...rest } =
    process.env;
  return rest;
}

/** The very Rust that rust-toolchain.toml names, with WebAssembly, and nothing is downloaded. */
function hasRust() {
  const channel = /^channel = "(.+)"$/m.exec(
    readFileSync(join(here, 'rust-toolchain.toml'), 'utf8'),
  )?.[1];
  try {
    const options = { cwd: tmpdir(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    const installed = execFileSync(
      'rustup',
      ['target', 'list', '--installed', '--toolchain', channel],
      options,
    );
    return installed.split('\n').includes(TARGET);
  } catch {
    return false;
  }
}

function verify() {
  const compressed = readFileSync(compressedPath);
  const stored = gunzipSync(compressed);
  if (readFileSync(sumsPath, 'utf8') !== sumsOf(stored, compressed)) {
    fail('The artifact, its sources and SHA256SUMS do not belong together.');
  }
  if (!hasRust()) {
    console.log(
      'The sums hold. Not built again: the Rust of rust-toolchain.toml is not installed.',
    );
    return;
  }
  execFileSync('cargo', ['test', '--locked', '--quiet'], {
    cwd: here,
    stdio: 'inherit',
    env: { ...environment(), CARGO_TARGET_DIR: join(tmpdir(), 'detect-engine-tests') },
  });
  const wasm = build();
  if (!stored.equals(wasm)) {
    fail(`The artifact differs from its sources.
  built  ${sha256(wasm)} (${wasm.length} bytes)
  stored ${sha256(stored)} (${stored.length} bytes)`);
  }
  console.log(`The artifact is its sources' build, byte for byte: ${sha256(wasm)}`);
}

function fail(message) {
  console.error(`${message}\nRun npm run engine:build and commit the result.`);
  process.exit(1);
}

if (process.argv.includes('--verify')) {
  verify();
} else {
  const wasm = build();
  const compressed = gzipSync(wasm, { level: constants.Z_BEST_COMPRESSION });
  mkdirSync(join(here, 'artifact'), { recursive: true });
  writeFileSync(compressedPath, compressed);
  writeFileSync(sumsPath, sumsOf(wasm, compressed));
  console.log(`${wasm.length} bytes, ${compressed.length} compressed`);
}
