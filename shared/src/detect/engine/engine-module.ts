/** The engine's WebAssembly, loaded and compiled once per thread, on first use. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { assetPath } from '../../process/assets.ts';
import { type WasmModule, wasmApi } from './wasm-api.ts';

/** Built by `npm run engine:build`. */
export const ENGINE_ARTIFACT = 'shared/detect-engine/artifact/detect-engine.wasm.gz';

let loaded: WasmModule | undefined;

/** @throws Error when the artifact is missing or damaged: detection is then impossible */
export function engineModule(): WasmModule {
  loaded ??= new wasmApi.Module(gunzipSync(readFileSync(assetPath(ENGINE_ARTIFACT))));
  return loaded;
}
