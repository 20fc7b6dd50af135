/**
 * One instance of the compiler's WebAssembly under WASI without a file system, environment or
 * arguments of the host. It is spoiled by any throw: the owner drops it and makes another.
 */
import { z } from 'zod';
import {
  type WasmImports,
  type WasmMemory,
  type WasmModule,
  wasmApi,
} from '../evaluator/wasm-api.ts';
import type { CrashCause } from './compiler-wire.ts';

const isFunction = (value: unknown) => typeof value === 'function';
const Exports = z.object({
  memory: z.custom<WasmMemory>((value) => typeof value === 'object' && value !== null),
  alloc: z.custom<(bytes: number) => number>(isFunction),
  run: z.custom<() => void>(isFunction),
  result: z.custom<() => number>(isFunction),
  size: z.custom<() => number>(isFunction),
});

/** What Go's runtime writes before it dies is kept up to this length, to tell the cause. */
const LAST_WORDS = 2_000;
const STDERR = 2;
const ERRNO_BADF = 8;

export class CompilerCrash extends Error {
  readonly crashCause: CrashCause;
  constructor(crashCause: CrashCause, message: string) {
    super(message);
    this.name = 'CompilerCrash';
    this.crashCause = crashCause;
  }
}

export interface CompilerInstance {
  /** Takes a request's JSON, returns the response's. Throws CompilerCrash: drop the instance. */
  call(request: string): string;
}

/**
 * @param module the compiler, its memory bounded by `limitWasmMemory`
 * @param softLimitBytes from here on Go's collector works harder instead of growing
 */
export function instantiateCompiler(module: WasmModule, softLimitBytes: number): CompilerInstance {
  // Loaded here and not by an import, whose warning (WASI is experimental) would come too early
  // for the worker to filter it.
  const { WASI } = process.getBuiltinModule('node:wasi');
  const wasi = new WASI({
    version: 'preview1',
    env: { GOMEMLIMIT: String(softLimitBytes) },
    returnOnExit: true,
  });
  let lastWords = '';
  let memory: WasmMemory | undefined;
  const imports = wasi.getImportObject() as WasmImports;
  const system = imports.wasi_snapshot_preview1 ?? {};
  // Nothing is written anywhere; what Go's runtime says before it dies tells why.
  system.fd_write = (fd: number, vectors: number, count: number, writtenAt: number) => {
    if (fd !== STDERR || !memory) return ERRNO_BADF;
    const view = new DataView(memory.buffer);
    let written = 0;
    for (let i = 0; i < count; i++) {
      const at = view.getUint32(vectors + i * 8, true);
      const length = view.getUint32(vectors + i * 8 + 4, true);
      if (lastWords.length < LAST_WORDS) {
        lastWords += Buffer.from(memory.buffer, at, length).toString('latin1');
      }
      written += length;
    }
    view.setUint32(writtenAt, written, true);
    return 0;
  };
  const instance = new wasmApi.Instance(module, imports);
  const exports = Exports.parse(instance.exports);
  const own = exports.memory;
  memory = own;
  try {
    wasi.initialize(instance);
  } catch (thrown) {
    throw new CompilerCrash(causeOf(thrown, lastWords), describe(thrown, lastWords));
  }
  return {
    call(request) {
      const bytes = Buffer.from(request);
      try {
        new Uint8Array(own.buffer).set(bytes, exports.alloc(bytes.length));
        exports.run();
        return Buffer.from(own.buffer, exports.result(), exports.size()).toString('utf8');
      } catch (thrown) {
        throw new CompilerCrash(causeOf(thrown, lastWords), describe(thrown, lastWords));
      }
    },
  };
}

function causeOf(thrown: unknown, lastWords: string): CrashCause {
  if (thrown instanceof RangeError || /stack/.test(lastWords)) return 'stack';
  if (/out of memory|cannot allocate memory/.test(lastWords)) return 'memory';
  return 'other';
}

function describe(thrown: unknown, lastWords: string): string {
  const first = lastWords.split('\n', 1)[0];
  return first || (thrown instanceof Error ? thrown.message : String(thrown));
}
