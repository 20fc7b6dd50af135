/** Reads a line of records and never throws: each fault is a check's finding. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isCanonicalText } from '../../canonical-json.ts';
import { recordHash } from '../../hash-chain.ts';
import { checkRecord, MAX_RECORD_BYTES, parseRecord, RECORD_JSON } from '../../ledger-record.ts';
import { type JsonWriting, parseStrictJson } from '../../strict-json.ts';
import { Epoch, Id, Sha256Hex, Timestamp } from '../../text.ts';
import { UnreadRecord } from '../evidence-package.ts';
import { hashOfLargeRecord, LargeRecord } from '../large-record.ts';
import type { RecordPlace, RecordRead } from './evidence.ts';

/** What places a record, whatever else it contains. */
const Place = z.looseObject({
  tenant_id: Id,
  stream: Id,
  epoch: Epoch,
  seq: z.int().positive(),
  prev_hash: Sha256Hex,
  timestamp: Timestamp,
  previous: z
    .object({ epoch: Epoch, last_seq: z.int().positive(), head: Sha256Hex })
    .nullable()
    .optional(),
}) satisfies z.ZodType<RecordPlace>;

/** For a record in a package. */
const RECORD_LIMITS = { bytes: MAX_RECORD_BYTES, nodes: RECORD_JSON.maxNodes };
const UNREAD = Buffer.from('{"unread_record":');
const LARGE = Buffer.from('{"large_record":');

/** @param bytes of the line, caller-controlled */
export function readRecordLine(bytes: Uint8Array): RecordRead {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (line.subarray(0, UNREAD.length).equals(UNREAD)) return readUnread(bytes);
  if (line.subarray(0, LARGE.length).equals(LARGE)) return readLarge(bytes);
  return readRecord(bytes);
}

/**
 * Reads a record: what events.canonical and events.schema find in it.
 *
 * @param bytes of the record itself, caller-controlled
 * @param limits those of packages unless given
 */
export function readRecord(
  bytes: Uint8Array,
  limits: { bytes: number; nodes: number } = RECORD_LIMITS,
): RecordRead {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hash = recordHash(bytes);
  const read = { hash, place: null, record: null, isUnread: false };
  const bad = (fault: RecordRead['faults']): RecordRead => ({
    ...read,
    faults: { schema: 'the line is no record', ...fault },
  });
  if (bytes.byteLength > limits.bytes) return bad({ strict: 'the record is too large' });
  if (!isUtf8(bytes)) return bad({ strict: 'the record is not UTF-8' });
  const text = line.toString('utf8');
  const writing: JsonWriting = { isPlain: false };
  let value: unknown;
  try {
    value = parseStrictJson(text, { ...RECORD_JSON, maxNodes: limits.nodes, writing });
  } catch {
    return bad({ strict: 'the record is no JSON with one reading' });
  }
  const faults: RecordRead['faults'] = {};
  if (!isCanonical(text, value, writing)) faults.canonical = 'the record is not in canonical form';
  try {
    const record = checkRecord(value);
    // A record of a known version has the members that place it, by the same schemas.
    return { hash, place: record, record, isUnread: false, faults };
  } catch {
    const place = Place.safeParse(value).data ?? null;
    return { ...read, place, faults: { ...faults, schema: 'it is no record of a known version' } };
  }
}

function isCanonical(text: string, value: unknown, writing: JsonWriting): boolean {
  try {
    return isCanonicalText(text, value, writing);
  } catch {
    return false;
  }
}

/** A record that no line can hold: its size alone says that nobody could read it. */
function readLarge(line: Uint8Array): RecordRead {
  const nothing = { place: null, record: null };
  try {
    const described = LargeRecord.parse(parseStrictJson(line, { maxDepth: 2, maxNodes: 16 }));
    const hash = hashOfLargeRecord(described);
    return { ...nothing, hash, isUnread: true, isTooLarge: true, faults: {} };
  } catch {
    const faults = { strict: 'the line is no record', schema: 'the line is no record' };
    return { ...nothing, hash: recordHash(line), isUnread: false, faults };
  }
}

/** A record that its receiver kept without being able to read it. */
function readUnread(line: Uint8Array): RecordRead {
  const nothing = { place: null, record: null };
  try {
    const { unread_record: text } = UnreadRecord.parse(
      parseStrictJson(line, { maxDepth: 2, maxNodes: 4 }),
    );
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text) throw new SyntaxError('no base64');
    const hash = recordHash(bytes);
    if (!isReadable(bytes)) return { ...nothing, hash, isUnread: true, faults: {} };
    const faults = { schema: 'the record can be read, and is said to be unreadable' };
    return { ...nothing, hash, isUnread: false, faults };
  } catch {
    const faults = { strict: 'the line is no record', schema: 'the line is no record' };
    return { ...nothing, hash: recordHash(line), isUnread: false, faults };
  }
}

function isReadable(bytes: Buffer): boolean {
  if (bytes.length > MAX_RECORD_BYTES) return false;
  try {
    parseRecord(bytes);
    return true;
  } catch {
    return false;
  }
}
