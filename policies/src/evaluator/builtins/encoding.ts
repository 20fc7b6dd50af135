/** OPA's hex.encode, hex.decode and crypto.sha256, over the UTF-8 bytes of a string. */
import { createHash } from 'node:crypto';
import { type Builtin, BuiltinLimitError } from './builtin.ts';

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
