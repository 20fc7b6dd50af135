/**
 * Reads an strace of the service and checks that each marked call's decision was on disk before the
 * call was sent to the upstream. kill -9 alone cannot prove this, since the page cache survives it.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { MARK } from './marked-backend.ts';

export interface TraceOrder {
  calls: number;
  /** Calls whose decision was not synced before the forward; must be empty. */
  violations: string[];
  syncs: number;
}

const LINE = /^(\d+)\s+(?:\d+\.\d+\s+)?(.*)$/;
const SYNC = /^(?:fdatasync|fsync)\(\d+<([^>]*)>/;
const RESUMED_SYNC = /^<\.\.\. (?:fdatasync|fsync) resumed>.*= 0/;

/**
 * @param file output of `strace -f -yy -s 65536 -e trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg`
 * @param wal the path of the ledger's write-ahead log
 * @param upstreamPort where the marked backend listens
 */
export async function readTraceOrder(
  file: string,
  wal: string,
  upstreamPort: number,
): Promise<TraceOrder> {
  const toUpstream = `->127.0.0.1:${upstreamPort}]`;
  /** Marks written to the log since its last sync, and those covered by a sync. */
  let unsynced = new Set<string>();
  const syncing = new Map<string, Set<string>>();
  const durable = new Set<string>();
  const forwarded = new Set<string>();
  const violations: string[] = [];
  let syncs = 0;

  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [, pid, call] = LINE.exec(line) ?? [];
    if (pid === undefined || call === undefined) continue;
    if (call.startsWith('pwrite64(') && call.includes(`<${wal}>`)) {
      for (const mark of marksIn(call)) if (!durable.has(mark)) unsynced.add(mark);
      continue;
    }
    const sync = SYNC.exec(call);
    if (sync?.[1] === wal) {
      syncing.set(pid, unsynced);
      unsynced = new Set();
      if (!call.includes('<unfinished')) settle(pid, / = 0/.test(call));
      continue;
    }
    if (RESUMED_SYNC.test(call)) {
      settle(pid, true);
      continue;
    }
    if (/^(write|writev|sendto|sendmsg)\(/.test(call) && call.includes(toUpstream)) {
      for (const mark of marksIn(call)) {
        if (!durable.has(mark)) violations.push(mark);
        forwarded.add(mark);
      }
    }
  }
  return { calls: forwarded.size, violations, syncs };

  function settle(pid: string, succeeded: boolean): void {
    const marks = syncing.get(pid);
    if (!marks) return;
    syncing.delete(pid);
    if (!succeeded) return;
    syncs += 1;
    for (const mark of marks) durable.add(mark);
  }
}

function marksIn(text: string): string[] {
  return [...text.matchAll(new RegExp(MARK, 'g'))].map((match) => match[1] as string);
}
