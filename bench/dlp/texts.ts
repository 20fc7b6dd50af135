/** Texts to scan: ordinary ones, and worst cases. Deterministic. */

const PROSE = `The committee met on Tuesday to review the quarterly figures and agreed that the new
warehouse should open before the end of the summer. Several members asked how the additional staff
would be trained, and the chair explained that each team will spend two weeks with an experienced
colleague. Afterwards they discussed the road works near the main entrance, which have delayed
deliveries by about forty minutes. `;
const CODE = `export function mergeRanges(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a.start - b.start);
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}
`;
const JSON_TEXT = `{"path":"/srv/reports/2026/summary.md","lines":[12,48],"options":{"recursive":true,
"encoding":"utf8","limit":250},"items":[{"name":"north gate","count":14,"open":true},{"name":
"river side","count":3,"open":false}],"note":"Please compare both lists and write down the rest."}
`;

/** Alternating prose, code and JSON. */
export function cleanText(size: number): string {
  const block = PROSE + CODE + JSON_TEXT;
  return block.repeat(Math.ceil(size / block.length)).slice(0, size);
}

/** A Lehmer generator: whole numbers below `bound`. */
function createRandom(seed: number): (bound: number) => number {
  let state = 20_261_122 + seed;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}

/**
 * A mark of every disguise that transforms a whole text: random texts have some of them by chance,
 * the longer the more, and would be read more often.
 */
const ALL_MARKS = 'drowssap cnffjbeq qebjffnc 41 42 43 44 45 46 a-b-c-d-e-f-g ';

function randomOf(alphabet: string): (size: number, seed: number) => string {
  return (size, seed) => {
    const random = createRandom(seed);
    const length = size - ALL_MARKS.length;
    const letters = Array.from({ length }, () => alphabet[random(alphabet.length)]);
    return ALL_MARKS + letters.join('');
  };
}

const repeated =
  (part: string) =>
  (size: number): string =>
    part.repeat(Math.ceil(size / part.length)).slice(0, size);

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LETTERS = UPPER + UPPER.toLowerCase();
const PRINTED = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');

/**
 * Each seed gives a different random text of the same size; the other texts are always the same.
 */
export const HOSTILE: readonly { name: string; make(size: number, seed: number): string }[] = [
  { name: 'random base64', make: randomOf(`${LETTERS}0123456789+/`) },
  { name: 'random digits and separators', make: randomOf('0123456789 -.') },
  { name: 'random printed characters', make: randomOf(PRINTED) },
  { name: 'random parts of addresses', make: randomOf('ab.@-1 ') },
  { name: 'random parts of assignments', make: randomOf('pasword:=" token') },
  { name: 'a.a.a.', make: repeated('a.') },
  { name: 'one letter', make: repeated('a') },
  { name: 'digits', make: repeated('4') },
  { name: 'labels', make: repeated('password ') },
  { name: 'quotes', make: repeated('"') },
  { name: 'concatenated strings', make: repeated("'ab' + ") },
  { name: 'percent signs', make: repeated('%41') },
  { name: 'escapes', make: repeated('\\u0041') },
  { name: 'full width', make: repeated('\uff41\uff42 ') },
  { name: 'addresses', make: repeated('a@b.co ') },
  { name: 'base64 of text', make: repeated(`${Buffer.from('plain words ').toString('base64')} `) },
  { name: 'reversed marks', make: repeated('drowssap ') },
  { name: 'single characters', make: repeated('4 1 - ') },
];
