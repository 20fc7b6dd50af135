/** The ledger's second thread: reads, prunes and checkpoints (ledger-reader.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteCode } from '../storage/durable-database.ts';
import { LedgerDamagedError } from './ledger-error.ts';
import { openSecondConnection } from './ledger-file.ts';
import type { LedgerWorkerData } from './ledger-messages.ts';
import { createLedgerReader, type LedgerReader } from './ledger-reader.ts';
import type { ReaderAnswer, ReaderRequest } from './ledger-reading.ts';

if (!parentPort) throw new Error('ledger-worker runs as a worker thread only');
const port = parentPort;
const data = workerData as LedgerWorkerData;
const reader = createLedgerReader(openSecondConnection(data), data.signingKey);

port.on('message', (request: ReaderRequest) => {
  const answer = answerTo(request);
  const value = 'value' in answer ? (answer.value as { bytes?: Uint8Array<ArrayBuffer> }) : null;
  port.postMessage(answer, value?.bytes ? [value.bytes.buffer] : []);
  if (request.operation === 'close') port.close();
});

function answerTo({ id, operation, parameters }: ReaderRequest): ReaderAnswer {
  try {
    const run = reader[operation] as (...given: unknown[]) => unknown;
    return { id, value: run(...parameters) };
  } catch (error) {
    return { id, ...faultOf(error, operation) };
  }
}

/**
 * A full disk can be cleared, a lock will be released, and damage affects one stream. Any other
 * error ends the ledger.
 */
function faultOf(error: unknown, operation: keyof LedgerReader) {
  const code = sqliteCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const isDamaged =
    error instanceof LedgerDamagedError ||
    // Damage in shipped records affects no waiting call, so it does not end the ledger.
    (operation === 'checkShipped' && code?.startsWith('SQLITE_CORRUPT'));
  if (isDamaged) return { fault: 'damaged' as const, message };
  if (code === 'SQLITE_FULL') return { fault: 'full' as const, message };
  // Another program has the lock: nothing was changed.
  if (code?.startsWith('SQLITE_BUSY')) return { fault: 'overloaded' as const, message };
  return { fault: 'failed' as const, message: code ? `${code}: ${message}` : message };
}
