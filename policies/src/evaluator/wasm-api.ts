/**
 * The part of the WebAssembly JavaScript API that the evaluator uses. TypeScript declares it with
 * the browser's library only, which this project does not load.
 */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export interface WasmGlobal {
  value: number;
}

export type WasmExports = Readonly<Record<string, unknown>>;
export type WasmImports = Record<string, Record<string, unknown>>;

interface WasmApi {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  validate(bytes: Uint8Array<ArrayBuffer>): boolean;
  Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule;
  Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: WasmExports };
  Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  RuntimeError: new (message?: string) => Error;
}

export const wasmApi: WasmApi = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
