/**
 * Evaluates many inputs with one compiled set in a separate thread, without blocking the caller.
 */
import type { Worker } from 'node:worker_threads';
import { spawnWorker } from '@governance/shared/process/spawn-worker';

/** A recorded policy input. */
export interface Question {
  /** JSON. */
  input: string;
  /** The policy's current time, in Unix milliseconds. */
  at: number;
}

/** The result of a set of policies for an input; a fault is a denial. */
export interface Judged {
  decision: 'allow' | 'deny' | 'escalate';
  /** The names of the policies that decided. */
  policies: string[];
  reason: string | null;
}

export type JudgeMessage = { kind: 'ready' } | { kind: 'judged'; judged: Judged[] };

export interface PolicyJudge {
  /** One batch at a time. Rejects when the thread has ended. */
  judge(questions: Question[]): Promise<Judged[]>;
  close(): Promise<void>;
}

/**
 * Starts the thread.
 *
 * Takes OPA's WebAssembly, unmetered, and the data document. Rejects when the policy cannot be loaded.
 */
export async function startPolicyJudge(wasm: Uint8Array, data: unknown): Promise<PolicyJudge> {
  const worker = spawnWorker(import.meta.url, 'policy-judge-worker', {
    workerData: { wasm, data },
    resourceLimits: { stackSizeMb: 4 },
  });
  const answer = listen(worker);
  await answer();
  return {
    judge: async (questions) => {
      const pending = answer();
      worker.postMessage(questions);
      const message = await pending;
      if (message.kind !== 'judged' || message.judged.length !== questions.length) {
        throw new Error('the thread of the replay gave another answer');
      }
      return message.judged;
    },
    close: async () => void (await worker.terminate()),
  };
}

/** @returns a function that waits for the next message, or for the thread's end */
function listen(worker: Worker): () => Promise<JudgeMessage> {
  let failure: Error | undefined;
  let waiting: { resolve(message: JudgeMessage): void; reject(error: Error): void } | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    waiting?.reject(failure);
    waiting = undefined;
  };
  worker.on('message', (message: JudgeMessage) => {
    waiting?.resolve(message);
    waiting = undefined;
  });
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', (code) => fail(new Error(`the thread of the replay ended (${code})`)));
  return () =>
    new Promise((resolve, reject) => {
      if (failure) reject(failure);
      else waiting = { resolve, reject };
    });
}
