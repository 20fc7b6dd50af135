/**
 * Pieces of a passage's words: runs of three to five letters, also at the beginning and the end of a
 * word. Forms, compounds and relatives of a word share most of them, so that what was learned of one
 * counts for the others. Links and addresses are read as well; digits end a word. Only passages that
 * could be findings are read this far.
 */
import { FIRST_DIGIT, IGNORED, KIND_OF, LETTER, OTHER_LETTER } from './characters.ts';
import {
  addFeature,
  beginFeatures,
  featureCount,
  sumFeatures,
  type Told,
  tellFeatures,
} from './feature-set.ts';

/** The number of pieces of a passage that count in full. */
const FEW = 64;
const THREE = 70;
const FOUR = 71;
const FIVE = 72;
/** How much each kind counts, as measured on authors left out of the training. */
const VALUES = { three: 1.4, four: 0.85, five: 0.95 } as const;
/** The border of a word, which no letter has as its number. */
const BORDER = 0x1ffff;

interface Place {
  readonly start: number;
  readonly end: number;
}

export function eachPiece(text: string, passage: Place, told: Told): void {
  readPieces(text, passage);
  tellFeatures(told, shareOf(featureCount()));
}

/** The weight of a passage's pieces, in units of the weights. */
export function sumPieces(weights: Int8Array, text: string, passage: Place): number {
  readPieces(text, passage);
  return sumFeatures(weights) * shareOf(featureCount());
}

function readPieces(text: string, { start, end }: Place): void {
  beginFeatures();
  let [a, b, c, d] = [0, 0, 0, 0];
  const take = (letter: number): void => {
    const two = Math.imul(d, 0x2c1b3c6d) ^ letter;
    if (c !== 0) {
      const three = Math.imul(c, 0x297a2d39) ^ two;
      addFeature(three, THREE, VALUES.three);
      if (b !== 0) {
        const four = Math.imul(b, 0x1b56c4e9) ^ three;
        addFeature(four, FOUR, VALUES.four);
        if (a !== 0) addFeature(Math.imul(a, 0x3d4d51cb) ^ four, FIVE, VALUES.five);
      }
    }
    [a, b, c, d] = [b, c, d, letter];
  };
  for (let at = start; at <= end; at += 1) {
    const unit = at === end ? 0 : text.charCodeAt(at);
    const kind = KIND_OF[unit] as number;
    if (kind === IGNORED) continue;
    if (isLetter(kind)) {
      if (d === 0) d = BORDER;
      take(kind === OTHER_LETTER ? unit : kind);
    } else if (d !== 0) {
      take(BORDER);
      [a, b, c, d] = [0, 0, 0, 0];
    }
  }
}

const isLetter = (kind: number): boolean =>
  kind >= LETTER && kind <= OTHER_LETTER && (kind < FIRST_DIGIT || kind >= FIRST_DIGIT + 10);

/** How much each piece of a passage counts. */
function shareOf(count: number): number {
  return count <= FEW ? 1 : Math.sqrt(FEW / count);
}
