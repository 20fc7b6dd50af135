/** Runs of hex, and strings of bytes. */
import { PROBE } from './probe.ts';
import { type Inflate, mayBeCompressedHex, textOfBytes, textsAmongBytes } from './readable.ts';
import type { Edit } from './view.ts';

export type Decoded = Pick<Edit, 'replacement' | 'disguise' | 'deeper'>;

/** Digits of a run in which a text is looked for among other bytes: more than a digest has. */
const MIN_HEX_AMONG = 66;

/** What hex decodes to, whole, compressed or among other bytes. */
export function hexRun(run: string, inflate: Inflate): Decoded | undefined {
  const text = hexText(run);
  if (text !== undefined) return { replacement: text, disguise: ['hex'] };
  const inflated = mayBeCompressedHex(run) ? inflate(Buffer.from(run, 'hex')) : undefined;
  if (inflated !== undefined) return { replacement: inflated, disguise: ['hex', 'compressed'] };
  const among = run.length < MIN_HEX_AMONG ? undefined : textsAmongBytes(Buffer.from(run, 'hex'));
  return among === undefined ? undefined : { replacement: among, disguise: ['hex'] };
}

/** Bytes as PostgreSQL writes them: `\x414b49`. Otherwise `\x41` is one character. */
export function byteStrings(text: string, inflate: Inflate): Edit[] {
  const edits: Edit[] = [];
  if (!text.includes('\\x')) return edits;
  for (const { 0: written, 1: hex = '', index } of text.matchAll(/\\{1,4}x([0-9A-Fa-f]{12,})/g)) {
    const decoded = hexRun(hex, inflate);
    if (decoded === undefined) continue;
    const other = `${String.fromCharCode(Number.parseInt(hex.slice(0, 2), 16))}${hex.slice(2)}`;
    const replacement = `${decoded.replacement}\n${other}`;
    edits.push({ ...decoded, start: index, end: index + written.length, replacement });
  }
  return edits;
}

export function hexText(run: string): string | undefined {
  if (run.length % 2 !== 0 || run.length < 12) return undefined;
  if (textOfBytes(Buffer.from(run.slice(0, PROBE), 'hex')) === undefined) return undefined;
  return textOfBytes(Buffer.from(run, 'hex'));
}
