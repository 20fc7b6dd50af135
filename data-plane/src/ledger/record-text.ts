/**
 * A record as the text that will be chained, without its number and the previous hash, which are
 * only known when it is chained. So each record is checked and serialised once, when it is
 * appended, and later changes of the object have no effect. Proven by record-text.test.ts.
 */
import { canonicalize } from '@governance/shared/json/canonical-json';
import { textHash } from '@governance/shared/ledger/hash-chain';
import {
  type ChainHead,
  MAX_RECORD_BYTES,
  RECORD_VERSION,
  RecordV2,
  UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { toStorable } from '@governance/shared/text';
import type { z } from 'zod';
import { type QuickWrite, quickWriteOf } from './quick-text.ts';

/** The record's canonical text around the two members `prev_hash` and `seq`. */
export interface RecordText {
  beforeHash: string;
  beforeSeq: string;
  end: string;
}

/** Why a record cannot be chained; other records are unaffected. */
export class UnfitRecordError extends Error {}

export type Place = Pick<ChainHead, 'tenant_id' | 'stream' | 'epoch'>;

interface Member {
  key: string;
  /** The quoted key with what precedes it: a brace or a comma. */
  quoted: string;
  /** Undefined for members that the ledger sets, and where only the general path is taken. */
  write: QuickWrite | undefined;
}

const OF_CHAIN: ReadonlySet<string> = new Set([
  'v',
  'tenant_id',
  'stream',
  'epoch',
  'seq',
  'prev_hash',
]);
/** The types that each call writes: only they have a fast path. */
const USUAL: ReadonlySet<unknown> = new Set(['decision', 'outcome']);

/** The members of each type of record, in canonical order. */
const MEMBERS = new Map<string, readonly Member[]>(
  RecordV2.options.map(({ shape }) => {
    const [type] = shape.type.values;
    const entries = Object.entries(shape).sort(([a], [b]) => (a < b ? -1 : 1));
    const members = entries.map(([key, schema], index) => {
      const isQuick = USUAL.has(type) && !OF_CHAIN.has(key);
      const write = isQuick ? quickWriteOf(schema as z.core.$ZodTypes) : undefined;
      return { key, quoted: `${index === 0 ? '{' : ','}"${key}":`, write };
    });
    return [type as string, members];
  }),
);

/** The most bytes that the previous hash, with its quotes, and the number take. */
const HASH_AND_SEQ_BYTES = 64 + 2 + 16;
/** UTF-8 bytes of one UTF-16 code unit, at most. */
const MAX_BYTES = 3;

/**
 * Checks a record and writes it out, with its texts made storable. Servers choose some of them (the
 * name of a member, a version): refused here, they would suppress the record; with a NUL in `details` or
 * in a finding, the control plane's `jsonb` would refuse it. All records pass here, so that none of
 * their authors has to think of it.
 *
 * @throws UnfitRecordError when the control plane would refuse it: once stored, such a record would
 *   block its stream forever
 */
export function writeRecord(place: Place, given: UnchainedRecord): RecordText {
  const text = writeUsual(place, given) ?? writeAny(place, parse(given));
  const characters = charactersOf(text);
  if (characters * MAX_BYTES > MAX_RECORD_BYTES && bytesOf(text) > MAX_RECORD_BYTES) {
    throw new UnfitRecordError(`larger than ${MAX_RECORD_BYTES} bytes`);
  }
  return text;
}

/** The fast path. @returns undefined where the general path has to write, or refuse, the record */
function writeUsual(place: Place, given: UnchainedRecord): RecordText | undefined {
  if (!USUAL.has(given?.type)) return undefined;
  const own = given as unknown as Record<string, unknown>;
  let expected = 0;
  const text = joinMembers(place, given.type, ({ key, write }) => {
    expected++;
    return write?.(own[key]);
  });
  if (text === undefined) return undefined;
  // A member outside the schema is refused by the general path.
  for (const _key in own) expected--;
  return expected === 0 ? text : undefined;
}

function writeAny(place: Place, record: UnchainedRecord): RecordText {
  const own = record as unknown as Record<string, unknown>;
  try {
    const text = joinMembers(place, record.type, ({ key }) => canonicalize(own[key]));
    if (text) return text;
  } catch (error) {
    throw new UnfitRecordError(error instanceof Error ? error.message : 'no canonical form');
  }
  throw new UnfitRecordError('of no known type');
}

/** @param write returns a member's value as text; undefined aborts */
function joinMembers(
  { tenant_id, stream, epoch }: Place,
  type: string,
  write: (member: Member) => string | undefined,
): RecordText | undefined {
  let beforeHash = '';
  let beforeSeq = '';
  let text = '';
  for (const member of MEMBERS.get(type) ?? []) {
    text += member.quoted;
    switch (member.key) {
      case 'prev_hash':
        beforeHash = text;
        text = '';
        break;
      case 'seq':
        beforeSeq = text;
        text = '';
        break;
      case 'v':
        text += RECORD_VERSION;
        break;
      case 'tenant_id':
        text += `"${tenant_id}"`;
        break;
      case 'stream':
        text += `"${stream}"`;
        break;
      case 'epoch':
        text += epoch;
        break;
      default: {
        const written = write(member);
        if (written === undefined) return undefined;
        text += written;
      }
    }
  }
  return text === '' ? undefined : { beforeHash, beforeSeq, end: `${text}}` };
}

/** Chains a record after a head. @returns its text, number and hash */
export function chainRecordText(
  record: RecordText,
  before: { seq: number; head: string },
): { text: string; seq: number; head: string } {
  const seq = before.seq + 1;
  const text = `${record.beforeHash}"${before.head}"${record.beforeSeq}${seq}${record.end}`;
  return { text, seq, head: textHash(text) };
}

export function charactersOf({ beforeHash, beforeSeq, end }: RecordText): number {
  return beforeHash.length + beforeSeq.length + end.length + HASH_AND_SEQ_BYTES;
}

function bytesOf({ beforeHash, beforeSeq, end }: RecordText): number {
  return Buffer.byteLength(beforeHash + beforeSeq + end) + HASH_AND_SEQ_BYTES;
}

function parse(given: UnchainedRecord): UnchainedRecord {
  const parsed = UnchainedRecord.safeParse(asStorable(given));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.map(String).join('.');
    throw new UnfitRecordError(issue ? `${path}: ${issue.message}` : 'no valid record');
  }
  const record = parsed.data;
  if (record.type === 'admin_action' && record.actor.role !== 'data_plane') {
    throw new UnfitRecordError('no administrator acts on a data plane');
  }
  if (record.timestamp < '1970') throw new UnfitRecordError('its time is before 1970');
  return record;
}

function asStorable(given: UnchainedRecord): unknown {
  try {
    // The details of other types may hold dates or undefined members.
    return toStorable(USUAL.has(given?.type) ? given : JSON.parse(JSON.stringify(given)));
  } catch (cause) {
    throw new UnfitRecordError('the record cannot be written as JSON', { cause });
  }
}
