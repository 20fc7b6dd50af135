/** The compiler's worker thread: started when needed, and replaced when it was lost. */
import type { Worker } from 'node:worker_threads';
import { assetPath } from '@governance/shared/process/assets';
import { spawnWorker } from '@governance/shared/process/spawn-worker';
import type { WorkerMessage, WorkerRequest } from './compiler-wire.ts';

export const COMPILER_ARTIFACT = 'policies/compiler/artifact/rego-compiler.wasm.br';

export interface CompilerThreadOptions {
  /** Bound of the compiler's memory, in pages of 64 KiB. */
  memoryPages: number;
  onMessage(message: WorkerMessage): void;
  /** The thread has ended by itself. */
  onLost(why: string): void;
}

export function createCompilerThread({ memoryPages, onMessage, onLost }: CompilerThreadOptions) {
  let worker: Worker | undefined;
  const endings = new Set<Promise<unknown>>();

  function start(): void {
    const started = spawnWorker(import.meta.url, 'rego-compiler-worker', {
      workerData: { artifact: assetPath(COMPILER_ARTIFACT), memoryPages },
      resourceLimits: { stackSizeMb: 4 },
    });
    // What a dropped worker still sends is ignored.
    const ifCurrent = (handle: () => void) => {
      if (worker === started) handle();
    };
    started.on('message', (message: WorkerMessage) => ifCurrent(() => onMessage(message)));
    started.on('error', (error) => ifCurrent(() => onLost(String(error))));
    started.on('exit', (code) => ifCurrent(() => onLost(`the worker ended (${code})`)));
    worker = started;
  }

  function drop(): void {
    if (!worker) return;
    const ending = worker.terminate().catch(() => undefined);
    worker = undefined;
    endings.add(ending);
    void ending.then(() => endings.delete(ending));
  }

  return {
    isRunning: () => worker !== undefined,
    start,
    drop,
    post: (request: WorkerRequest): void => worker?.postMessage(request),
    /** Keeps the process alive. */
    ref: (): void => worker?.ref(),
    unref: (): void => worker?.unref(),
    /** Resolves when every dropped worker has ended. */
    ended: async (): Promise<void> => {
      await Promise.all(endings);
    },
  };
}
