/**
 * `npm run inbound:leave-out`: trains without the written texts of one set after another, and
 * measures on that set and, with all of them, on the sets of eval-inbound: what the model is worth
 * for texts by somebody else. Writes nothing.
 *
 * Of the written texts one model is trained, not the mean of several (train-model.ts).
 *
 * `npm run inbound:leave-out -- 1` trains on all of the other sets only, which takes a third as long.
 */
import { readWordGroups } from '@governance/shared/detect/inbound/word-groups';
import { developmentTexts } from '../eval-inbound/development-texts.ts';
import { heldOutTexts } from '../eval-inbound/held-out-texts.ts';
import { authorTexts, contrastTexts } from '../eval-inbound/marked-texts.ts';
import { naturalTexts } from '../eval-inbound/natural-texts.ts';
import { toBag, toBags } from './bags.ts';
import { SEED, trainingTexts } from './texts.ts';
import { besideWritten, EASE, trainGenerated, trainPart, withGenerated } from './train-model.ts';
import { sumOf, type Weights } from './train-weights.ts';
import type { TrainingText } from './training-text.ts';
import { wordGroupsFile } from './word-groups.ts';
import { type WrittenText, weighted, writtenTexts } from './written-texts.ts';

interface Scores {
  readonly attacks: number[];
  readonly benign: number[];
}

/** Part of each of the other sets that is used, to see what more texts would gain. */
const given = process.argv.slice(2).map(Number);
const PARTS = given.length > 0 ? given : [0.25, 0.5, 1];
const ALARMS = [0.01, 0.02, 0.05];
/** A set without attacks tells nothing about recall: it is always trained on. */
const groups = readWordGroups(wordGroupsFile());
const texts = trainingTexts();
const generated = trainGenerated(toBags(texts, groups), SEED);
const beside = toBags(besideWritten(texts, 0), groups);
const written = writtenTexts();
const files = [...new Set(written.map(({ file }) => file))].filter((file) =>
  written.some((text) => text.file === file && text.kind === 'attack'),
);

for (const part of PARTS) {
  const all: Scores = { attacks: [], benign: [] };
  for (const file of files) {
    const others = written.filter((text, index) => text.file !== file && index % 4 < part * 4);
    const own = scoresOf(
      train(others),
      written.filter((text) => text.file === file),
    );
    all.attacks.push(...own.attacks);
    all.benign.push(...own.benign);
    if (part === 1) report(`${file} left out`, own);
  }
  report(`each left out, ${part} of the others`, all);
}
const whole = train(written);
report('authors', scoresOf(whole, authorTexts() as TrainingText[]));
report('natural', scoresOf(whole, naturalTexts() as TrainingText[]));
report('contrasts', scoresOf(whole, contrastTexts() as TrainingText[]));
report('held-out', scoresOf(whole, heldOutTexts() as TrainingText[]));
report('development', scoresOf(whole, developmentTexts() as TrainingText[]));

function train(texts: readonly WrittenText[]): Weights {
  return withGenerated(generated, trainPart(toBags(weighted(texts), groups), beside, SEED));
}

/** As the detector scores: the worst passage's sum. */
function scoresOf(weights: Weights, texts: readonly TrainingText[]): Scores {
  const scores: Scores = { attacks: [], benign: [] };
  for (const { text, kind } of texts) {
    const { passages } = toBag({ text, kind }, groups);
    const sums = passages.map((passage) => sumOf(weights, passage) - passage.strictness + EASE);
    scores[kind === 'attack' ? 'attacks' : 'benign'].push(Math.max(-20, ...sums));
  }
  return scores;
}

function report(name: string, { attacks, benign }: Scores): void {
  const above = (sums: readonly number[], least: number) =>
    (sums.filter((sum) => sum > least).length / sums.length).toFixed(3);
  const sorted = [...benign].sort((one, other) => other - one);
  const cells = ALARMS.map((share) => {
    const least = sorted[Math.floor(share * sorted.length)] ?? 0;
    return `${above(attacks, least)} at ${share} (${least.toFixed(2)})`;
  });
  console.log(
    `${name}: recall ${above(attacks, 0)} of ${attacks.length}, false positives ` +
      `${above(benign, 0)} of ${benign.length}; recall ${cells.join(', ')}`,
  );
}
