/**
 * The worker thread that holds the compiler: one request at a time, a fresh instance after any
 * throw. It has no time-out of its own (a synchronous call cannot be interrupted from inside):
 * its owner terminates it.
 */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { type LoadedPolicyEngine, loadPolicyEngine } from '../evaluator/policy-engine.ts';
import { wasmApi } from '../evaluator/wasm-api.ts';
import { CompilerCrash, type CompilerInstance, instantiateCompiler } from './compiler-instance.ts';
import { CompilerResponse, type WorkerMessage, type WorkerRequest } from './compiler-wire.ts';
import { limitWasmMemory } from './wasm-memory.ts';

const PAGE_BYTES = 65_536;
const { artifact, memoryPages } = z
  .object({ artifact: z.string(), memoryPages: z.int().positive() })
  .parse(workerData);
const port = parentPort;
if (!port) throw new Error('rego-compiler-worker runs as a worker thread only');

const module = new wasmApi.Module(
  limitWasmMemory(brotliDecompressSync(readFileSync(artifact)), memoryPages),
);
const softLimit = Math.floor(memoryPages * PAGE_BYTES * 0.8);
let instance: CompilerInstance | undefined;

function answer(request: string): WorkerMessage {
  instance ??= instantiateCompiler(module, softLimit);
  try {
    const { error, wasm, ...rest } = CompilerResponse.parse(JSON.parse(instance.call(request)));
    if (error !== undefined) throw new CompilerCrash('other', error);
    const bytes = wasm === undefined ? null : new Uint8Array(Buffer.from(wasm, 'base64'));
    return { kind: 'answer', answer: { ...rest, wasm: bytes } };
  } catch (thrown) {
    instance = undefined;
    const cause = thrown instanceof CompilerCrash ? thrown.crashCause : 'other';
    return { kind: 'crash', cause, message: thrown instanceof Error ? thrown.message : 'unknown' };
  }
}

async function judge(
  compiler: string,
  { input, data, wasm: given }: NonNullable<WorkerRequest['judge']>,
): Promise<WorkerMessage> {
  let wasm = given;
  if (!wasm) {
    const made = answer(compiler);
    if (made.kind !== 'answer' || !made.answer.wasm) return made;
    wasm = made.answer.wasm;
  }
  let engine: LoadedPolicyEngine;
  try {
    engine = await loadPolicyEngine(wasm, data);
  } catch (thrown) {
    return { kind: 'not_loaded', message: thrown instanceof Error ? thrown.message : 'unknown' };
  }
  return { kind: 'judged', outcome: engine.evaluateRaw(input), compiled: given ? null : wasm };
}

port.on('message', async ({ compiler, judge: asked }: WorkerRequest) => {
  if (asked) {
    port.postMessage(await judge(compiler, asked));
    return;
  }
  const message = answer(compiler);
  const wasm = message.kind === 'answer' ? message.answer.wasm : null;
  port.postMessage(message, wasm ? [wasm.buffer as ArrayBuffer] : []);
});
instance = instantiateCompiler(module, softLimit);
port.postMessage({ kind: 'ready' } satisfies WorkerMessage);
