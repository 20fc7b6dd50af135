/**
 * The compiler's artifact is whole and as small as promised. That it is its sources' build, byte
 * for byte, takes Go and minutes: `npm run compiler:verify`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { assetPath } from '@governance/shared/process/assets';
import { expect, test } from 'vitest';
import { COMPILER_ARTIFACT } from './compiler-thread.ts';

const MEGABYTE = 1_000_000;

test('has the SHA-256 that stands beside it', () => {
  const compressed = readFileSync(assetPath(COMPILER_ARTIFACT));
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const sums = readFileSync(assetPath('policies/compiler/artifact/SHA256SUMS'), 'utf8');
  expect(sums).toBe(
    `${sha256(brotliDecompressSync(compressed))}  rego-compiler.wasm\n${sha256(compressed)}  rego-compiler.wasm.br\n`,
  );
  expect(compressed.length).toBeLessThanOrEqual(9 * MEGABYTE);
});
