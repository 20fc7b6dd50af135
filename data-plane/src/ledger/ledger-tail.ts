import { zodFault } from '@governance/shared/http/zod-fault';
import { type ChainPosition, recordHash, verifyLink } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { ZodError } from 'zod';
import { LedgerDamagedError } from './ledger-error.ts';
import type { StoredRecord } from './ledger-rows.ts';

/**
 * Checks the last records of a stream, so that a new epoch never builds on damaged bytes.
 *
 * @param rows consecutive stored records up to the stream's last, in order
 * @returns the position after the last of them, null where there are none
 * @throws LedgerDamagedError when a record is not the one that was chained
 */
export function verifyTail(
  rows: Iterable<StoredRecord>,
  tenantId: string,
  stream: string,
): ChainPosition | null {
  let position: ChainPosition | null = null;
  for (const row of rows) {
    const record = readStored(row, nameOf(row, stream));
    position = follow(position, row, record, row.hash ?? undefined, { tenantId, stream });
  }
  return position;
}

/**
 * Checks hash, place and link of consecutive records. Cheaper than `verifyTail`: it does not
 * validate each record again, since bytes with the hash that the next record names were checked
 * when they were chained.
 *
 * @param rows consecutive stored records, in order
 * @param before the position that the first of them follows; null: what the first record says of it
 *   is trusted
 * @returns the position after the last of them
 * @throws LedgerDamagedError naming the first record that is not the one that was chained
 */
export function verifyRows(
  rows: Iterable<StoredRecord>,
  before: ChainPosition | null,
  tenantId: string,
  stream: string,
): ChainPosition | null {
  let position = before;
  for (const row of rows) {
    const at = nameOf(row, stream);
    const hash = recordHash(row.bytes);
    if (hash !== (row.hash ?? hash)) throw new LedgerDamagedError(`${at}: content is broken`);
    position = follow(position, row, parseStored(row.bytes, at), hash, { tenantId, stream });
  }
  return position;
}

function nameOf({ epoch, seq }: StoredRecord, stream: string): string {
  return `record ${epoch}/${seq} of stream ${stream}`;
}

/** Checks a record against its position and its predecessor. */
function follow(
  position: ChainPosition | null,
  row: StoredRecord,
  record: ReadRecord,
  hash: string | undefined,
  { tenantId, stream }: { tenantId: string; stream: string },
): ChainPosition {
  const { epoch, seq, prev_hash } = record;
  const isOwn = record.tenant_id === tenantId && record.stream === stream;
  if (!isOwn || epoch !== row.epoch || seq !== row.seq) {
    throw new LedgerDamagedError(`${nameOf(row, stream)} is stored in the place of another`);
  }
  const previous = record.type === 'epoch_start' ? record.previous : undefined;
  const before = position ?? beforeFirst(record);
  const link = { epoch, seq, prev_hash, previous, bytes: row.bytes };
  const { after, broken } = verifyLink(before.epoch === 0 ? null : before, link, hash);
  if (broken) throw new LedgerDamagedError(`${nameOf(row, stream)}: ${broken.kind} is broken`);
  return after;
}

function parseStored(bytes: Buffer, at: string): ReadRecord {
  try {
    return JSON.parse(bytes.toString('utf8')) as ReadRecord;
  } catch {
    throw new LedgerDamagedError(`${at} is not valid JSON`);
  }
}

function readStored(row: StoredRecord, at: string) {
  try {
    return parseRecord(row.bytes);
  } catch (error) {
    const fault = error instanceof ZodError ? zodFault(error) : String(error);
    throw new LedgerDamagedError(`${at} cannot be read: ${fault}`);
  }
}

type ReadRecord = ReturnType<typeof parseRecord>;

/**
 * The rows may begin in the middle of the stream: what the first record says of its predecessor is
 * trusted.
 */
function beforeFirst(record: ReadRecord): ChainPosition {
  if (record.type === 'epoch_start') {
    const { previous } = record;
    return previous
      ? { epoch: previous.epoch, seq: previous.last_seq, head: previous.head }
      : { epoch: 0, seq: 0, head: record.prev_hash };
  }
  return { epoch: record.epoch, seq: record.seq - 1, head: record.prev_hash };
}
