/** OPA's hex.encode, hex.decode and crypto.sha256, over the UTF-8 bytes of a string. */
import { createHash } from 'node:crypto';
import type { Builtin } from './builtin.ts';

const FUEL_PER_BYTE = 10;

export const hexEncode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  return Buffer.from(text, 'utf8').toString('hex');
};

export const hexDecode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return decodeUtf8(Buffer.from(text, 'hex'));
};

export const sha256: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  return createHash('sha256').update(text, 'utf8').digest('hex');
};

/** As Go reads bytes: each byte that belongs to no valid character is one U+FFFD. */
function decodeUtf8(bytes: Buffer): string {
  let out = '';
  let from = 0;
  while (from < bytes.length) {
    const length = validLength(bytes, from);
    out += length === 0 ? '\ufffd' : bytes.toString('utf8', from, from + length);
    from += Math.max(length, 1);
  }
  return out;
}

/** How many bytes the character at this place has; 0 when it is not valid. */
function validLength(bytes: Buffer, at: number): number {
  const first = bytes[at] as number;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length === 0 || first > 0xf4 || at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) {
    if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1] as number;
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  return first === 0xf4 && second > 0x8f ? 0 : length;
}
