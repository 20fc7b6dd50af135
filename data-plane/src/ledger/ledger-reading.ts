/** Requests to the ledger's second thread. */
import { spawnWorker } from '@governance/shared/process/spawn-worker';
import { LedgerError, type LedgerFault } from './ledger-error.ts';
import type { LedgerWorkerData } from './ledger-messages.ts';
import type { LedgerReader } from './ledger-reader.ts';

export type ReaderOperation = keyof LedgerReader;

export interface ReaderRequest {
  id: number;
  operation: ReaderOperation;
  parameters: unknown[];
}

export type ReaderAnswer =
  | { id: number; value: unknown }
  | { id: number; fault: LedgerFault; message: string };

type Parameters<O extends ReaderOperation> = LedgerReader[O] extends (...given: infer P) => unknown
  ? P
  : never;

export type LedgerReading = ReturnType<typeof startLedgerReading>;

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: LedgerError) => void;
}

/**
 * Starts the ledger's second thread.
 *
 * @param onFatal called when the thread ended, or an error left the file's state unknown
 */
export function startLedgerReading(workerData: LedgerWorkerData, onFatal: (error: Error) => void) {
  const worker = spawnWorker(import.meta.url, 'ledger-worker', { workerData });
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let closed = false;

  worker.on('message', (answer: ReaderAnswer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('value' in answer) return asked?.resolve(answer.value);
    asked?.reject(new LedgerError(answer.fault, answer.message));
    if (answer.fault === 'failed') onFatal(new Error(answer.message));
  });
  worker.on('error', onFatal);
  worker.on('exit', (code) => {
    if (!closed) onFatal(new Error(`the ledger's thread ended (${code})`));
  });

  return {
    ask: <O extends ReaderOperation>(
      operation: O,
      ...parameters: Parameters<O>
    ): Promise<ReturnType<LedgerReader[O]>> =>
      new Promise((resolve, reject) => {
        if (closed) throw new LedgerError('stopped', 'the ledger is stopping');
        closed = operation === 'close';
        const id = nextId++;
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
        worker.postMessage({ id, operation, parameters } satisfies ReaderRequest);
      }),
    /** Refuses all waiting requests. */
    fail: (error: LedgerError): void => {
      closed = true;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
      void worker.terminate();
    },
  };
}
