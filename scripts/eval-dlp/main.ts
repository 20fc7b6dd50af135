/**
 * `npm run eval:dlp [FILE]`: recall and precision of the DLP scanner on a file of JSON lines
 * `{text, kind: positive | negative, category}`, or on the generated test half.
 */
import { readFileSync } from 'node:fs';
import { evaluate, precision, recall } from './evaluate.ts';
import { LabelledText } from './labelled-text.ts';
import { testHalf } from './test-half.ts';
import { tuningHalf } from './tuning-half.ts';

/** Texts of a generated half; and how many misses and false alarms are shown. */
const SIZE = 3_000;
const SHOWN = 40;

function texts(source: string | undefined): LabelledText[] {
  if (source === undefined) return testHalf(SIZE);
  if (source === '--tuning') return tuningHalf(SIZE);
  return readFileSync(source, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => LabelledText.parse(JSON.parse(line)));
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const shown = (text: string): string => JSON.stringify(text.slice(0, 160));

const result = evaluate(texts(process.argv[2]));
console.log('category                        positives  recall  negatives  false alarms');
for (const [category, score] of [...result.byCategory].sort(([a], [b]) => a.localeCompare(b))) {
  const share = score.positives ? percent(recall(score)) : '-';
  const counts = `${String(score.positives).padStart(9)} ${share.padStart(8)}`;
  const alarms = `${String(score.negatives).padStart(9)} ${String(score.alarms).padStart(13)}`;
  console.log(`${category.padEnd(31)} ${counts}  ${alarms}`);
}
console.log('\npattern                         texts  of them positive');
for (const [pattern, { texts: found, right }] of [...result.byPattern].sort()) {
  console.log(
    `${pattern.padEnd(31)} ${String(found).padStart(5)} ${percent(right / found).padStart(17)}`,
  );
}
console.log(`\n${result.misses.length} misses`);
for (const { category, text } of result.misses.slice(0, SHOWN))
  console.log(`  ${category}: ${shown(text)}`);
console.log(`\n${result.alarms.length} false alarms`);
for (const { text, patterns } of result.alarms.slice(0, SHOWN)) {
  console.log(`  ${text.category} (${patterns.join(', ')}): ${shown(text.text)}`);
}
const { overall } = result;
console.log(
  `\noverall: recall ${percent(recall(overall))} (goal 95 %), precision ${percent(precision(overall))} (goal 98 %)`,
);
