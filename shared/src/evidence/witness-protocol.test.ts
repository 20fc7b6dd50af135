import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cosignCheckpoint } from '../testing/test-evidence.ts';
import { checkpointBody } from './checkpoint.ts';
import {
  findCosignature,
  parseTreeSize,
  parseWitnessKey,
  writeAddCheckpoint,
} from './witness-protocol.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
const name = 'witness.example/w1';

/** As C2SP signed-note says. */
function vkeyOf(type: number, named = name): string {
  const typed = Buffer.concat([Buffer.from([type]), raw]);
  const digest = createHash('sha256').update(`${named}\n`).update(typed).digest();
  return `${named}+${digest.subarray(0, 4).toString('hex')}+${typed.toString('base64')}`;
}

describe('the key of a witness', () => {
  it('is its name and Ed25519 key', () => {
    expect(parseWitnessKey(vkeyOf(4))).toEqual({
      name,
      key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    });
  });

  it.each([
    ['of a log', vkeyOf(1)],
    ['under another name', vkeyOf(4).replace('w1', 'w2')],
    ['without a hash', `${name}+${raw.toString('base64')}`],
    ['with a blank in its name', vkeyOf(4, 'a b')],
    ['nothing', ''],
  ])('is not one %s', (_what, vkey) => {
    expect(() => parseWitnessKey(vkey)).toThrow(SyntaxError);
  });
});

it('a request has the old size, the proof, and the note behind an empty line', () => {
  const node = 'ab'.repeat(32);
  const line = Buffer.from(node, 'hex').toString('base64');
  expect(writeAddCheckpoint(0, [], 'note\n')).toBe('old 0\n\nnote\n');
  expect(writeAddCheckpoint(7, [node, node], 'note\n')).toBe(`old 7\n${line}\n${line}\n\nnote\n`);
  expect(() => writeAddCheckpoint(7, Array(64).fill(node), 'note\n')).toThrow(RangeError);
});

it('a conflict names a size, and nothing else is one', () => {
  expect(parseTreeSize('0\n')).toBe(0);
  expect(parseTreeSize('20852014\n')).toBe(20_852_014);
  for (const text of ['', '7', '07\n', '-1\n', '7\n7\n', '1e3\n', '99999999999999999\n']) {
    expect(() => parseTreeSize(text), text).toThrow(SyntaxError);
  }
});

it('of an answer the line counts that this witness signed for this checkpoint', () => {
  const witness = parseWitnessKey(vkeyOf(4));
  const body = checkpointBody({
    ...{ origin: 'log', size: 3, root: 'cd'.repeat(32), time: '2026-05-04T12:00:00.000Z' },
  });
  const line = cosignCheckpoint(body, { name, key: privateKey }, 1_780_000_000);
  const other = cosignCheckpoint(
    body,
    { name, key: generateKeyPairSync('ed25519').privateKey },
    1_780_000_000,
  );
  expect(findCosignature(`${other}\nno line\n${line}\n`, body, witness)).toBe(line);
  expect(findCosignature(`${other}\n`, body, witness)).toBeUndefined();
  expect(findCosignature(`${line}\n`, body.replace('\n3\n', '\n4\n'), witness)).toBeUndefined();
  expect(findCosignature(`${'x\n'.repeat(100)}${line}\n`, body, witness)).toBeUndefined();
});
