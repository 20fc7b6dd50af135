/**
 * The part of the WebAssembly JavaScript API that the engine uses. TypeScript declares it with the
 * browser's library only, which this project does not load.
 */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

interface WasmApi {
  Module: new (bytes: Uint8Array) => WasmModule;
  Instance: new (module: WasmModule) => { readonly exports: unknown };
}

export const wasmApi: WasmApi = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
