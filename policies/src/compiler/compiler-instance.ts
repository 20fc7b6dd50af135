/**
 * One instance of the compiler's WebAssembly. Any throw leaves it unusable: the owner drops it and
 * creates another.
 */
import { z } from 'zod';
import { type WasmMemory, type WasmModule, wasmApi } from '../evaluator/wasm-api.ts';
import type { CrashCause } from './compiler-wire.ts';
import { createWasiHost } from './wasi-host.ts';

const isFunction = (value: unknown) => typeof value === 'function';
const Exports = z.object({
  memory: z.custom<WasmMemory>((value) => typeof value === 'object' && value !== null),
  _initialize: z.custom<() => void>(isFunction),
  alloc: z.custom<(bytes: number) => number>(isFunction),
  run: z.custom<() => void>(isFunction),
  result: z.custom<() => number>(isFunction),
  size: z.custom<() => number>(isFunction),
});

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
  const host = createWasiHost([`GOMEMLIMIT=${softLimitBytes}`]);
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw new CompilerCrash(
        causeOf(thrown, host.lastOutput()),
        describe(thrown, host.lastOutput()),
      );
    }
  };
  const instance = new wasmApi.Instance(module, host.imports);
  const exports = Exports.parse(instance.exports);
  host.attach(exports.memory);
  guarded(() => exports._initialize());
  return {
    call: (request) =>
      guarded(() => {
        const bytes = Buffer.from(request);
        const at = exports.alloc(bytes.length); // may grow the memory: its buffer is read after
        new Uint8Array(exports.memory.buffer).set(bytes, at);
        exports.run();
        const result = exports.result();
        const size = exports.size();
        return Buffer.from(exports.memory.buffer, result, size).toString('utf8');
      }),
  };
}

/** V8's stack ends with a RangeError, exhausted Go stack or memory with a message on stderr. */
function causeOf(thrown: unknown, lastOutput: string): CrashCause {
  if (/out of memory|cannot allocate memory/.test(lastOutput)) return 'memory';
  if (thrown instanceof RangeError || /stack overflow|stack exceeds/.test(lastOutput))
    return 'stack';
  return 'other';
}

function describe(thrown: unknown, lastOutput: string): string {
  const first = lastOutput.split('\n', 1)[0];
  return first || (thrown instanceof Error ? thrown.message : String(thrown));
}
