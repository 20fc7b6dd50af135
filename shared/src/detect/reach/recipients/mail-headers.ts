/** Recipients in the headers of a whole message, as it goes over the wire (RFC 5322), or in base64. */
import { wordSet } from '../word-set.ts';

/** Names of arguments that hold such a message. */
const RAW = wordSet('raw mime eml rfc encoded');
/** UTF-16 units of the headers that are read. */
const MAX_HEADERS = 64 * 1024;
const BASE64_UNITS = Math.ceil((MAX_HEADERS * 4) / 3);

const HEADER = /^\s*[A-Za-z][A-Za-z0-9-]{0,76}:/;
const RECIPIENTS = /^(?:resent-)?(?:to|cc|bcc):/i;

export interface MailRecipients {
  /** The values of the headers that name recipients. */
  readonly values: string[];
  /** Whether the headers are too long to be read. */
  readonly isCut: boolean;
}

/** Whether an argument of this name may hold a whole message. */
export function mayBeMail(words: readonly string[]): boolean {
  return words.some((word) => RAW.has(word));
}

/** @returns undefined where the text is no message */
export function readMailRecipients(text: string): MailRecipients | undefined {
  const head = text.slice(0, BASE64_UNITS);
  const plain = HEADER.test(head) ? head : Buffer.from(head, 'base64').toString('latin1');
  if (!HEADER.test(plain)) return undefined;
  const end = /\r?\n\r?\n/.exec(plain)?.index;
  const isCut = end === undefined && text.length > head.length;
  // A line that begins with a blank continues the one before.
  const lines = plain.slice(0, end).split(/\r?\n(?![ \t])/);
  const values = lines
    .filter((line) => RECIPIENTS.test(line))
    .map((line) => line.slice(line.indexOf(':') + 1).replaceAll(/\r?\n/g, ' '));
  return { values, isCut };
}
