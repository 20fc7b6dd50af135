/** Reads a line of records and never throws: each fault is a check's finding. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isCanonicalText } from '../../json/canonical-json.ts';
import { type JsonWriting, parseStrictJson } from '../../json/strict-json.ts';
import { recordHash } from '../../ledger/hash-chain.ts';
import {
  checkRecord,
  type LedgerRecord,
  MAX_RECORD_BYTES,
  parseRecord,
  RECORD_JSON,
} from '../../ledger/ledger-record.ts';
import { Epoch, Id, Sha256Hex, Timestamp } from '../../text.ts';
import { UnreadRecord } from '../evidence-package.ts';
import { hashOfLargeRecord, LargeRecord } from '../large-record.ts';

/** The members that place a record, whatever else it says. */
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
});

export interface RecordRead {
  hash: string;
  /** Null when the bytes are not a JSON object that says where it belongs. */
  place: z.infer<typeof Place> | null;
  /** Null when they are not a record of a known version. */
  record: LedgerRecord | null;
  /** The control plane kept it without being able to read it. */
  isUnread: boolean;
  /** It is unread, and too large for a package: its bytes are not shown. */
  isTooLarge?: true;
  faults: { strict?: string; canonical?: string; schema?: string };
}

/** For a record in a package. */
const RECORD_LIMITS = { bytes: MAX_RECORD_BYTES, nodes: RECORD_JSON.maxNodes };
const UNREAD = Buffer.from('{"unread_record":');
const LARGE = Buffer.from('{"large_record":');
const NOTHING = { place: null, record: null };
const NO_RECORD = 'the line is no record';

/** @param bytes of the line, caller-controlled */
export function readRecordLine(bytes: Uint8Array): RecordRead {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (line.subarray(0, UNREAD.length).equals(UNREAD)) return readUnread(bytes);
    if (line.subarray(0, LARGE.length).equals(LARGE)) return readLarge(bytes);
  } catch {
    const faults = { strict: NO_RECORD, schema: NO_RECORD };
    return { ...NOTHING, hash: recordHash(bytes), isUnread: false, faults };
  }
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
  const read = { ...NOTHING, hash, isUnread: false };
  const bad = (fault: RecordRead['faults']): RecordRead => ({
    ...read,
    faults: { schema: NO_RECORD, ...fault },
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
  const described = LargeRecord.parse(parseStrictJson(line, { maxDepth: 2, maxNodes: 16 }));
  const hash = hashOfLargeRecord(described);
  return { ...NOTHING, hash, isUnread: true, isTooLarge: true, faults: {} };
}

/** A record that its receiver kept without being able to read it. */
function readUnread(line: Uint8Array): RecordRead {
  const { unread_record: text } = UnreadRecord.parse(
    parseStrictJson(line, { maxDepth: 2, maxNodes: 4 }),
  );
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new SyntaxError('no base64');
  const hash = recordHash(bytes);
  if (!isReadable(bytes)) return { ...NOTHING, hash, isUnread: true, faults: {} };
  const faults = { schema: 'the record can be read, and is said to be unreadable' };
  return { ...NOTHING, hash, isUnread: false, faults };
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
