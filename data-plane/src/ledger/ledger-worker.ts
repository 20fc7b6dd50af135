/**
 * The ledger's thread. An fsync on the main thread would stop every other call; here it stops only
 * those that wait for it anyway. All requests that arrived while the last commit ran are taken
 * together, so that the group grows with the load.
 */
import { performance } from 'node:perf_hooks';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { sqliteCode } from '../storage/durable-database.ts';
import { LedgerDamagedError } from './ledger-error.ts';
import type {
  AppendMessage,
  LedgerAnswer,
  LedgerMessage,
  LedgerWorkerData,
} from './ledger-messages.ts';
import { createLedgerStore, type EntryResult, type GroupItem } from './ledger-store.ts';

/** Bounds what one record may wait for the others of its group. */
const MAX_GROUP_RECORDS = 512;

type GroupMessage = Extract<LedgerMessage, { op: 'append' | 'shipped' }>;

if (!parentPort) throw new Error('ledger-worker runs as a worker thread only');
const port = parentPort;
const store = openStore(workerData as LedgerWorkerData);

port.on('message', (first: LedgerMessage) => {
  const messages = [first, ...takeWaiting(first)];
  const answers: LedgerAnswer[] = [];
  const transfer: ArrayBuffer[] = [];
  let group: GroupMessage[] = [];
  const commit = () => {
    if (group.length > 0) answers.push(...commitGroup(group));
    group = [];
  };
  for (const message of messages) {
    if (message.op === 'append' || message.op === 'shipped') {
      group.push(message);
      continue;
    }
    commit();
    answers.push(answer(message, transfer));
  }
  commit();
  port.postMessage(answers, transfer);
  if (messages.some((message) => message.op === 'close')) port.close();
});
port.postMessage([{ op: 'answer', id: 0, value: null }] satisfies LedgerAnswer[]);

function openStore(data: LedgerWorkerData) {
  try {
    return createLedgerStore(data);
  } catch (error) {
    if (error instanceof LedgerDamagedError) throw new Error(error.message);
    // An error of SQLite loses its message on its way out of the thread.
    throw new Error(`the ledger cannot write: ${describe(error)}`);
  }
}

function takeWaiting(first: LedgerMessage): LedgerMessage[] {
  const waiting: LedgerMessage[] = [];
  let records = first.op === 'append' ? first.count : 0;
  while (records < MAX_GROUP_RECORDS) {
    const next = receiveMessageOnPort(port)?.message as LedgerMessage | undefined;
    if (!next) break;
    waiting.push(next);
    if (next.op === 'append') records += next.count;
  }
  return waiting;
}

function commitGroup(messages: GroupMessage[]): LedgerAnswer[] {
  const items: GroupItem[] = messages.flatMap((message) =>
    message.op === 'append'
      ? readEntries(message)
      : [{ streamNo: message.streamNo, shipped: message.position }],
  );
  const started = performance.now();
  let results: EntryResult[];
  try {
    results = store.commitGroup(items);
  } catch (error) {
    return failed(messages, error);
  }
  const seconds = (performance.now() - started) / 1000;
  let next = 0;
  const answers = messages.map((message): LedgerAnswer => {
    if (message.op === 'shipped') return { op: 'answer', id: message.id, value: null };
    const own = results.slice(next, next + message.count);
    next += message.count;
    return {
      op: 'appended',
      id: message.id,
      seqs: own.map((result) => (result.ok ? result.seq : 0)),
      hashes: own.map((result) => (result.ok ? result.hash : result.reason)),
    };
  });
  if (results.length > 0) {
    const diskSeconds = store.lastCommitMs() / 1000;
    answers.push({ op: 'committed', records: results.length, seconds, diskSeconds });
  }
  return answers;
}

function readEntries(message: AppendMessage): GroupItem[] {
  const entries = JSON.parse(message.entries) as [number, [string, string] | null, unknown][];
  return entries.map(([streamNo, salt, record]) => ({
    streamNo,
    record,
    salt: salt && { eventId: salt[0], salt: Buffer.from(salt[1], 'base64') },
  }));
}

function answer(
  message: Exclude<LedgerMessage, GroupMessage>,
  transfer: ArrayBuffer[],
): LedgerAnswer {
  try {
    switch (message.op) {
      case 'open':
        return { op: 'answer', id: message.id, value: store.openStream(message) };
      case 'batch': {
        const batch = store.nextBatch(message.streamNo, message.limit);
        if (batch) transfer.push(batch.bytes.buffer);
        return { op: 'answer', id: message.id, value: batch };
      }
      case 'rewind':
        return {
          op: 'answer',
          id: message.id,
          value: store.rewindShipped(message.streamNo, message.next),
        };
      case 'check': {
        return { op: 'answer', id: message.id, value: checkShipped(message) };
      }
      case 'prune':
        return { op: 'answer', id: message.id, value: store.prune(message.streamNo, message) };
      case 'space':
        return { op: 'answer', id: message.id, value: store.freeBytes() };
      case 'close':
        store.close();
        return { op: 'answer', id: message.id, value: null };
    }
  } catch (error) {
    const [refusal] = failed([message], error);
    return refusal as LedgerAnswer;
  }
}

/** Reading what is kept finds damage, and no call waits for it: it ends nothing. */
function checkShipped({ streamNo, after, limit }: Extract<LedgerMessage, { op: 'check' }>) {
  try {
    return store.checkShipped(streamNo, after, limit);
  } catch (error) {
    if (sqliteCode(error)?.startsWith('SQLITE_CORRUPT'))
      throw new LedgerDamagedError(textOf(error));
    throw error;
  }
}

/**
 * A full disk can be cleared, and damage concerns one stream. After anything else the disk's state
 * is unknown (SQLite reports a failed fsync once and carries on), so the whole ledger ends.
 */
function failed(messages: LedgerMessage[], error: unknown): LedgerAnswer[] {
  const code = sqliteCode(error);
  const damaged = error instanceof LedgerDamagedError;
  if (code === 'SQLITE_FULL' || damaged) {
    const fault = damaged ? 'damaged' : 'full';
    return messages.map(({ id }) => ({ op: 'refused', id, fault, message: textOf(error) }));
  }
  return [{ op: 'fatal', message: describe(error) }];
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe(error: unknown): string {
  const code = sqliteCode(error);
  return code ? `${code}: ${textOf(error)}` : textOf(error);
}
