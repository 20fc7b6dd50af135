/** A record as a package has it: verbatim, or as what it is where verifiers cannot read it. */
import { setImmediate } from 'node:timers/promises';
import {
  type LargeRecord,
  MAX_SHOWN_BYTES,
  stepsOfLargeRecord,
} from '@governance/shared/evidence/large-record';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { MAX_KEY_LENGTH } from '@governance/shared/json/strict-json';
import { RECORD_JSON } from '@governance/shared/ledger/ledger-record';
import { QUARANTINED } from '../../chain/ledger-columns.ts';
import { readAsVerifiers } from '../../chain/ledger-row.ts';

export interface PackagedRecord {
  stream: string;
  epoch: number;
  seq: number;
  type: string;
  id: string;
  subjectId: string | null;
  hash: string;
  prevHash: string;
  /** Its line. */
  text: string;
}

export interface RawRecord {
  stream: string;
  epoch: number;
  seq: bigint;
  type: string;
  id: string;
  subject_id: string | null;
  hash: string;
  prev_hash: string;
  bytes: Uint8Array;
}

export async function toPackaged(row: RawRecord): Promise<PackagedRecord> {
  const { seq, subject_id, prev_hash, bytes, ...rest } = row;
  const line = await readLine(row.type, Buffer.from(bytes));
  return { ...rest, ...line, seq: Number(seq), subjectId: subject_id, prevHash: prev_hash };
}

/**
 * Finds records that a verifier may refuse to read: earlier versions stored records that nest
 * deeper or have longer keys. Such a record has this many opening brackets, or its line is longer
 * than MAX_KEY_LENGTH; hardly any other record is like that.
 */
const DEEP = new RegExp(`^(?:[^{[\\n]*[{[]){${RECORD_JSON.maxDepth + 1}}`, 'm');

/** @param lines records in canonical form */
export function mayBeUnreadable(lines: string): boolean {
  if (lines.includes('"__proto__"') || DEEP.test(lines)) return true;
  for (let start = 0; start < lines.length; ) {
    const found = lines.indexOf('\n', start);
    const end = found < 0 ? lines.length : found;
    if (end - start > MAX_KEY_LENGTH) return true;
    start = end + 1;
  }
  return false;
}

/**
 * The record verbatim; unreadable bytes as base64, or described by their hash where they are too
 * long for a line. A record in quarantine that verifiers can read gets the type of its content,
 * since they look for the bundle that it names.
 */
async function readLine(
  type: string,
  bytes: Buffer,
): Promise<Pick<PackagedRecord, 'type' | 'text'>> {
  if (type !== QUARANTINED) {
    const text = bytes.toString('utf8');
    if (!mayBeUnreadable(text)) return { type, text };
  }
  const record = readAsVerifiers(bytes);
  if (record) return { type: record.type, text: bytes.toString('utf8') };
  const shown =
    bytes.length > MAX_SHOWN_BYTES
      ? await describe(bytes)
      : { unread_record: bytes.toString('base64') };
  return { type: QUARANTINED, text: canonicalize(shown) };
}

/** Hashes a large record in steps, so that requests are answered meanwhile. */
async function describe(bytes: Buffer): Promise<LargeRecord> {
  const steps = stepsOfLargeRecord(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}
