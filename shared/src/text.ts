import { z } from 'zod';

/** In JSON Schema's form: source of a regular expression. */
const WITHOUT_NUL = '^[^\\u0000]*$';

/** Whether PostgreSQL, SQLite and canonical JSON can all hold this text unchanged. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** A text that every store can hold: NUL and lone surrogates become U+FFFD. */
export function toStorableText(text: string): string {
  return isStorableText(text) ? text : text.replaceAll('\u0000', '\ufffd').toWellFormed();
}

/**
 * A JSON value whose texts and keys every store can hold; the value itself where they are.
 *
 * @param value is not changed
 */
export function toStorable(value: unknown): unknown {
  if (typeof value === 'string') return toStorableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(toStorable);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  let isSame = true;
  const members = Object.entries(value).map(([key, item]) => {
    const member = [toStorableText(key), toStorable(item)] as const;
    isSame &&= member[0] === key && member[1] === item;
    return member;
  });
  return isSame ? value : Object.fromEntries(members);
}

/** A text without its trailing slashes. A regular expression would retry each run of slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/**
 * The one string type of requests and records: no NUL (PostgreSQL refuses it) and no lone surrogate
 * (it has no UTF-8 form), either of which could block a queue forever.
 */
export const Text = z
  .string()
  .regex(new RegExp(WITHOUT_NUL), 'must not contain a NUL character')
  // No UTF-8 text contains one, so that no schema needs to say it.
  .refine((text) => text.isWellFormed(), 'must not contain a lone surrogate');

/** What `trim` removes, and the control characters: source of a part of a character class. */
const BLANK =
  '\\u0001-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/** Text without surrounding blanks, and not empty. */
export const VisibleText = z
  .string()
  .regex(
    new RegExp(`^[${BLANK}]*[^${BLANK}\\u0000][^\\u0000]*$`),
    // What a schema asks besides would say the same again.
    { error: 'must not be empty or blank, nor contain a NUL character', abort: true },
  )
  .refine((text) => text.isWellFormed(), 'must not contain a lone surrogate');

/** Scripts that join no letters, and what belongs to no script. */
const WITHOUT_JOINERS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian', 'Hebrew', 'Han']
  .concat('Hiragana', 'Katakana', 'Hangul', 'Thai', 'Common', 'Inherited')
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** Of vowels and of doubled letters, which Unicode counts to no script. */
const ARABIC_MARKS = '\\u064b-\\u0655\\u0670';

/**
 * The signs by which a consonant has no vowel, in scripts where that is often written with a joiner
 * behind it, also at the end of a word (as in RFC 5892, A.1).
 */
const VIRAMAS = '\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca';

/**
 * What nobody sees: controls, marks of direction, of no width and of no character, ends of lines,
 * and blanks at the ends. Joiners of letters are seen only in what they join, which some scripts need.
 */
const UNSEEN = new RegExp(
  [
    '(?![\\u200c\\u200d])[\\p{Cc}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}]',
    '[\\p{Zl}\\p{Zp}\\ufff9-\\ufffb]',
    '(?<![\\p{L}\\p{M}])[\\u200c\\u200d]',
    // At joiners alone: looking back over marks takes as long as there are marks.
    `(?=[\\u200c\\u200d])(?<=[${WITHOUT_JOINERS}])(?<!\\p{Script=Arabic}[${ARABIC_MARKS}]+)`,
    `(?<![${VIRAMAS}])\\u200c(?![\\p{L}\\p{M}])`,
    '^\\p{Z}',
    '\\p{Z}$',
  ].join('|'),
  'u',
);

/** Whether a name has nothing in it that nobody sees. */
export function isSeen(name: string): boolean {
  return !UNSEEN.test(name);
}

/** A time as the product writes it: ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** Month and day: all but 29 February, which not every year has. */
const DAYS =
  '(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31';

/**
 * Nearly all of `Timestamp`, told without a calendar, in years that every store has: source of a
 * regular expression.
 */
export const USUAL_TIMESTAMP = `(?:19[7-9]\\d|2\\d{3})-(?:${DAYS})T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z`;

/** An identifier in what we wrote: a UUID, lower case where we generate it. */
export const Id = z.uuid();

/**
 * An identifier in a request. Either case names the same UUID (RFC 9562 section 4): PostgreSQL finds
 * it by both, but facts and records have it in lower case only, so it is read as that.
 */
export const GivenId = z.uuid().toLowerCase();

/** An epoch of a stream, which PostgreSQL stores as an integer: a larger one fits no row. */
export const Epoch = z.int().positive().max(2_147_483_647);

/** A SHA-256 in lower-case hexadecimal. */
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
