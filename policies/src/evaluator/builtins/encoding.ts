/**
 * OPA's hex.encode, hex.decode, crypto.sha256, base64.decode, base64.is_valid and base64url.decode,
 * over the UTF-8 bytes of a string.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type Builtin, BuiltinLimitError, ByteString } from './builtin.ts';

const FUEL_PER_BYTE = 10;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const hexEncode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  return Buffer.from(text, 'utf8').toString('hex');
};

export const hexDecode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  try {
    return UTF8.decode(Buffer.from(text, 'hex'));
  } catch {
    // OPA continues with a string of those bytes. The WebAssembly's strings cannot hold them, and a
    // replacement would change the digest.
    throw new BuiltinLimitError('the bytes are not UTF-8 text');
  }
};

export const sha256: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  return createHash('sha256').update(text, 'utf8').digest('hex');
};

export const base64Decode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  return decode(text);
};

export const base64IsValid: Builtin = ([text], call) => {
  if (typeof text !== 'string') return false;
  call.charge(text.length * FUEL_PER_BYTE);
  return isBase64(withoutLineBreaks(text));
};

export const base64UrlDecode: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_BYTE);
  if (/[+/]/.test(text)) return undefined;
  // OPA counts the bytes, line breaks too, before it adds what is missing at the end.
  const missing = text.endsWith('=') ? 0 : (4 - (Buffer.byteLength(text) % 4)) % 4;
  if (missing === 3) return undefined;
  return decode(text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat(missing));
};

/** Go's base64.StdEncoding: padded, with line breaks anywhere, and no other sign. */
function decode(text: string): string | ByteString | undefined {
  const digits = withoutLineBreaks(text);
  if (!isBase64(digits)) return undefined;
  const bytes = Buffer.from(digits, 'base64');
  return isUtf8(bytes) ? bytes.toString() : new ByteString(bytes);
}

function withoutLineBreaks(text: string): string {
  return text.replace(/[\r\n]/g, '');
}

function isBase64(digits: string): boolean {
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
}
