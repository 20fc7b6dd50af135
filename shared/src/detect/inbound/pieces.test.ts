import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HASHED_COUNT } from './feature-set.ts';
import { eachPiece, sumPieces } from './pieces.ts';

const weights = Int8Array.from({ length: HASHED_COUNT }, (_, at) => ((at * 31) % 251) - 125);

function piecesOf(text: string): Map<number, number> {
  const found = new Map<number, number>();
  eachPiece(text, { start: 0, end: text.length }, (piece, value) => found.set(piece, value));
  return found;
}

const word = fc.oneof(
  fc.stringMatching(/^[a-z0-9]{1,30}$/),
  fc.constantFrom('Anweisung', 'инструкция', 'été', '密码', 'تعليمات', 'a_b', '𝐛𝐨𝐥𝐝', 'x\u200by'),
);

it('a passage weighs what its pieces weigh', () => {
  const texts = fc.array(word, { maxLength: 130 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(texts, (text) => {
      let sum = 0;
      for (const [piece, value] of piecesOf(text)) sum += (weights[piece] as number) * value;
      const weighed = sumPieces(weights, text, { start: 0, end: text.length });
      expect(Math.abs(weighed - sum)).toBeLessThan(0.01 * (1 + Math.abs(sum)));
    }),
    { numRuns: 200 },
  );
});

it('forms of a word share most of their pieces, each of which counts once', () => {
  const [one, other] = [piecesOf('approved'), piecesOf('approve')];
  const shared = [...one.keys()].filter((piece) => other.has(piece));
  expect(shared.length).toBeGreaterThan(one.size / 2);
  expect(piecesOf('approved Approved app\u200broved, APPROVED!')).toEqual(one);
});

it('numbers have no pieces, and only the passage is read', () => {
  expect(piecesOf('0.99999999 12 3').size).toBe(0);
  const text = 'before approved after';
  const found: number[] = [];
  eachPiece(text, { start: 7, end: 15 }, (piece) => found.push(piece));
  expect(found).toEqual([...piecesOf('approved').keys()]);
});
