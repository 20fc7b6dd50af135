/**
 * The WASI host of the compiler's WebAssembly: a clock, random bytes and nothing else. It has no
 * files, no arguments and one environment variable; stderr is kept only to explain a crash.
 *
 * node:wasi is not used: V8 calls its functions from WebAssembly as fast calls, which leave no
 * frame, and some of them allocate; a garbage collection then misses the stack and frees the
 * running code. A policy with a long package name crashed the whole process this way
 * (hostile.test.ts; docs/adr names the details).
 */
import { randomFillSync } from 'node:crypto';
import type { WasmImports, WasmMemory } from '../evaluator/wasm-api.ts';

const SUCCESS = 0;
const BAD_FILE_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;
const STDERR = 2;
const REALTIME = 0;

/** Calls that Go's runtime may make, without effect here. */
const FILE_CALLS = [
  'fd_close',
  'fd_fdstat_get',
  'fd_fdstat_set_flags',
  'fd_filestat_get',
  'fd_prestat_dir_name',
  'fd_prestat_get',
  'fd_read',
  'fd_readdir',
  'fd_seek',
  'path_filestat_get',
  'path_open',
  'path_readlink',
];

const OUTPUT_BYTES = 4_000;
const LONGEST_SLEEP_MS = 100;

export interface WasiHost {
  imports: WasmImports;
  /** Must be called after instantiation and before the first export is. */
  attach(memory: WasmMemory): void;
  /** The beginning of stderr. */
  lastOutput(): string;
}

/** @param environment what the module sees as its environment, `NAME=value` each */
export function createWasiHost(environment: readonly string[]): WasiHost {
  const variables = environment.map((variable) => Buffer.from(`${variable}\0`));
  const variableBytes = variables.reduce((sum, { length }) => sum + length, 0);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let memory: WasmMemory | undefined;
  let output = '';
  // A new view each time: growing the memory detaches the previous buffer.
  const view = () => new DataView(attached().buffer);
  const attached = () => {
    if (!memory) throw new Error('the host has no memory yet');
    return memory;
  };
  const sizes = (countAt: number, bytesAt: number, count: number, bytes: number) => {
    view().setUint32(countAt, count, true);
    view().setUint32(bytesAt, bytes, true);
    return SUCCESS;
  };

  const system: Record<string, (...args: never[]) => number> = {
    args_sizes_get: (countAt: number, bytesAt: number) => sizes(countAt, bytesAt, 0, 0),
    args_get: () => SUCCESS,
    environ_sizes_get: (countAt: number, bytesAt: number) =>
      sizes(countAt, bytesAt, variables.length, variableBytes),
    environ_get(pointersAt: number, bytesAt: number) {
      let at = bytesAt;
      variables.forEach((variable, i) => {
        view().setUint32(pointersAt + 4 * i, at, true);
        new Uint8Array(attached().buffer).set(variable, at);
        at += variable.length;
      });
      return SUCCESS;
    },
    clock_time_get(clock: number, _precision: bigint, timeAt: number) {
      const now = clock === REALTIME ? BigInt(Date.now()) * 1_000_000n : process.hrtime.bigint();
      view().setBigUint64(timeAt, now, true);
      return SUCCESS;
    },
    random_get(at: number, length: number) {
      randomFillSync(new Uint8Array(attached().buffer, at, length));
      return SUCCESS;
    },
    sched_yield: () => SUCCESS,
    /** Go waits on a single clock. It may be woken early, since it checks the time itself. */
    poll_oneoff(subscriptionAt: number, eventAt: number, count: number, countAt: number) {
      const subscription = view();
      const isClock = subscription.getUint8(subscriptionAt + 8) === 0;
      const isAbsolute = subscription.getUint16(subscriptionAt + 40, true) !== 0;
      if (count !== 1 || !isClock || isAbsolute) return NOT_SUPPORTED;
      const nanoseconds = subscription.getBigUint64(subscriptionAt + 24, true);
      Atomics.wait(pause, 0, 0, Math.min(Number(nanoseconds) / 1e6, LONGEST_SLEEP_MS));
      const event = view();
      event.setBigUint64(eventAt, subscription.getBigUint64(subscriptionAt, true), true);
      event.setBigUint64(eventAt + 8, 0n, true); // no error, type clock
      event.setUint32(countAt, 1, true);
      return SUCCESS;
    },
    fd_write(descriptor: number, vectorsAt: number, count: number, writtenAt: number) {
      if (descriptor !== STDERR) return BAD_FILE_DESCRIPTOR;
      let written = 0;
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(vectorsAt + i * 8, true);
        const length = view().getUint32(vectorsAt + i * 8 + 4, true);
        if (output.length < OUTPUT_BYTES) {
          const kept = Math.min(length, OUTPUT_BYTES);
          output += Buffer.from(attached().buffer, at, kept).toString('latin1');
        }
        written += length;
      }
      view().setUint32(writtenAt, written, true);
      return SUCCESS;
    },
    proc_exit(code: number) {
      throw new Error(`the compiler exited with ${code}`);
    },
  };
  for (const name of FILE_CALLS) system[name] = () => BAD_FILE_DESCRIPTOR;
  return {
    imports: { wasi_snapshot_preview1: system },
    attach(own) {
      memory = own;
    },
    lastOutput: () => output,
  };
}
