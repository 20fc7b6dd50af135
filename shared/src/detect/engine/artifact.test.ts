/**
 * The engine's artifact is complete. That it was built from its sources is checked by `npm run
 * engine:verify`, byte for byte where Rust is installed.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { assetPath } from '../../process/assets.ts';
import { ENGINE_ARTIFACT } from './engine-module.ts';

test('has the SHA-256 that stands beside it', () => {
  const compressed = readFileSync(assetPath(ENGINE_ARTIFACT));
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const sums = readFileSync(assetPath('shared/detect-engine/artifact/SHA256SUMS'), 'utf8');
  expect(sums.split('\n').slice(0, 2)).toEqual([
    `${sha256(gunzipSync(compressed))}  detect-engine.wasm`,
    `${sha256(compressed)}  detect-engine.wasm.gz`,
  ]);
  expect(compressed.length).toBeLessThanOrEqual(300_000);
});
