/**
 * Reads the records that make up nearly all of a batch, decisions and outcomes without findings, by
 * one regular expression: schema and canonical form at once, without parsing. The expressions are
 * made from the schemas and match less than these allow: all other records are left to
 * `parseRecord`. The pattern of a value never matches the character that ends the value, so that
 * matching takes linear time. Proven by record-pattern.test.ts: what matches is what `parseRecord`
 * reads.
 */
import { RecordV2 } from '@governance/shared/ledger/ledger-record';
import { Id, Sha256Hex, Text, Timestamp, USUAL_TIMESTAMP } from '@governance/shared/text';
import { safeParse, type z } from 'zod';
import type { LedgerColumns } from '../chain/ledger-columns.ts';
import type { RecordEnvelope } from '../chain/record-envelope.ts';

export interface UsualRecord {
  place: Omit<RecordEnvelope, 'previous'>;
  columns: LedgerColumns;
}

/** The patterns of strings in canonical form, by schema. */
const STRINGS = new Map<unknown, string>([
  [Id, '[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'],
  [Sha256Hex, '[0-9a-f]{64}'],
  // No numeric escapes: one of them is NUL, which no text contains.
  [Text, '[^"\\\\\\x00-\\x1f]*(?:\\\\["\\\\bfnrt][^"\\\\\\x00-\\x1f]*)*'],
  [Timestamp, USUAL_TIMESTAMP],
]);

/** At most 15 digits, which a double holds and prints unchanged. */
const DECIMAL = '(?:0|[1-9]\\d{0,8})(?:\\.\\d{0,5}[1-9])?';

/**
 * The pattern of some values that a schema allows, including the usual ones.
 *
 * @param open begins the group around the value, inside its quotes
 */
function patternOf(schema: z.core.$ZodTypes, open: '(' | '(?:'): string {
  const text = STRINGS.get(schema);
  if (text !== undefined) return `"${open}${text})"`;
  const { def } = schema._zod;
  switch (def.type) {
    case 'literal':
      return `${JSON.stringify(def.values[0])}`;
    case 'enum':
      return `"${open}${Object.values(def.entries).join('|')})"`;
    case 'boolean':
      return '(?:true|false)';
    case 'number':
      return `${open}${numberPattern(schema)})`;
    case 'nullable': {
      const inner = def.innerType as z.core.$ZodTypes;
      return inner._zod.def.type === 'object' ? 'null' : `(?:null|${patternOf(inner, open)})`;
    }
    case 'pipe':
      return '\\[\\]'; // a list
    default:
      throw new Error(`a record has a member of the type ${def.type}`);
  }
}

function numberPattern(schema: z.core.$ZodType): string {
  const allows = (value: number) => safeParse(schema, value).success;
  if (allows(0.5)) return DECIMAL;
  const digits = allows(999_999_999_999_999) ? 14 : 8;
  return `${allows(0) ? '0|' : ''}[1-9]\\d{0,${digits}}`;
}

/** @param read the members whose values are groups of the pattern, in the order of their names */
function recordPattern(type: 'decision' | 'outcome', read: readonly string[]): RegExp {
  const schema = RecordV2.options.find(({ shape }) => shape.type.value === type);
  const members = Object.entries(schema?.shape ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `"${name}":${patternOf(value, read.includes(name) ? '(' : '(?:')}`);
  return new RegExp(`^\\{${members.join(',')}\\}$`);
}

const END = ['prev_hash', 'seq', 'stream', 'tenant_id', 'timestamp'];
const DECISION = recordPattern('decision', ['agent_id', 'epoch', 'id', 'policy_result', ...END]);
const OUTCOME = recordPattern('outcome', ['epoch', 'event_id', 'id', ...END]);

/** @returns undefined for an unusual record, and for anything that is not a record */
export function readUsualRecord(text: string): UsualRecord | undefined {
  const decision = DECISION.exec(text) as Groups | null;
  if (decision) {
    const [, agentId, epoch, id, policyResult, prev_hash, seq, stream, tenant_id, time] = decision;
    const kept = copyOf(time + id + agentId);
    return {
      place: { tenant_id, stream, epoch: +epoch, seq: +seq, prev_hash, type: 'decision' },
      columns: {
        type: 'decision',
        id: kept.slice(24, 60),
        subjectId: null,
        agentId: kept.slice(60),
        policyResult,
        eventTime: kept.slice(0, 24),
      },
    };
  }
  const outcome = OUTCOME.exec(text) as Groups | null;
  if (!outcome) return undefined;
  const [, epoch, subjectId, id, prev_hash, seq, stream, tenant_id, time] = outcome;
  const kept = copyOf(time + id + subjectId);
  return {
    place: { tenant_id, stream, epoch: +epoch, seq: +seq, prev_hash, type: 'outcome' },
    columns: {
      type: 'outcome',
      id: kept.slice(24, 60),
      subjectId: kept.slice(60),
      agentId: null,
      policyResult: null,
      eventTime: kept.slice(0, 24),
    },
  };
}

const scratch = Buffer.alloc(128);

/**
 * Copies text out of a match. A group is a slice that keeps the whole record in memory until its
 * batch is stored; without the copy, that is most of the garbage collector's work.
 */
function copyOf(ascii: string): string {
  return scratch.toString('latin1', 0, scratch.write(ascii, 'latin1'));
}

/** At least as many as any pattern has groups; each exists when the pattern matches. */
type Groups = RegExpExecArray &
  [string, string, string, string, string, string, string, string, string, string];
