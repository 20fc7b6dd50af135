import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cosignCheckpoint } from '../testing/test-evidence.ts';
import {
  isCheckpointSignedBy,
  isCosignedBy,
  logOrigin,
  parseCheckpoint,
  parseSignature,
  signCheckpoint,
} from './checkpoint.ts';
import type { PublicJwk } from './ed25519.ts';

const aKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { key: privateKey, jwk: publicKey.export({ format: 'jwk' }) as PublicJwk };
};
const origin = logOrigin('01890000-0000-7000-8000-000000000001', 1);
const checkpoint = { origin, size: 812, root: 'ab'.repeat(32), time: '2026-01-02T03:04:05.678Z' };
const { key, jwk } = aKey();

it('is read back as it was written, and was signed by that key alone', () => {
  const note = signCheckpoint(checkpoint, key);
  expect(note.split('\n').slice(0, 2)).toEqual([origin, '812']);
  const signed = parseCheckpoint(note);
  expect(signed.checkpoint).toEqual(checkpoint);
  expect(isCheckpointSignedBy(signed, jwk)).toBe(true);
  expect(isCheckpointSignedBy(signed, aKey().jwk)).toBe(false);
});

it('does not hold after any edit of one character', () => {
  const note = signCheckpoint(checkpoint, key);
  fc.assert(
    fc.property(fc.nat(note.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, other) => {
      fc.pre(note[at] !== other);
      const edited = note.slice(0, at) + other + note.slice(at + 1);
      try {
        expect(isCheckpointSignedBy(parseCheckpoint(edited), jwk)).toBe(false);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }),
  );
});

it.each([
  ['a size with a zero before it', `${origin}\n0812\n`],
  ['no time', `${origin}\n812\n${'A'.repeat(43)}=\n`],
  ['a line more', `${origin}\n812\n${'A'.repeat(43)}=\ntime ${checkpoint.time}\nmore\n`],
  ['a root that is too short', `${origin}\n812\nAAAA\ntime ${checkpoint.time}\n`],
])('is no checkpoint with %s', (_what, body) => {
  const [, line] = signCheckpoint(checkpoint, key).split('\n\n');
  expect(() => parseCheckpoint(`${body}\n${line}`)).toThrow(SyntaxError);
});

it('is cosigned by a witness under its own name', () => {
  const witness = { name: 'witness.example', ...aKey() };
  const { body } = parseCheckpoint(signCheckpoint(checkpoint, key));
  const line = cosignCheckpoint(body, witness, 1_767_323_045);
  const trusted = { name: witness.name, key: witness.jwk };
  expect(isCosignedBy(body, parseSignature(line), trusted)).toBe(true);
  expect(isCosignedBy(`${body}x`, parseSignature(line), trusted)).toBe(false);
  expect(isCosignedBy(body, parseSignature(line), { ...trusted, name: 'another' })).toBe(false);
  // A checkpoint may carry it beside the log's own line.
  const note = `${signCheckpoint(checkpoint, key)}${line}\n`;
  expect(isCheckpointSignedBy(parseCheckpoint(note), jwk)).toBe(true);
});
