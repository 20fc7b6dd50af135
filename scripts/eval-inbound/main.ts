/**
 * `npm run eval:inbound [held-out | development | test-half | contrasts | authors | natural |
 * natural-hard | buyers | business | quoting | plain | goal | tools | FILE]`: recall and false positives by class,
 * language and carrier, with the misses. All but the last are built in (docs/inbound-measurements.md describes
 * them); FILE is JSON lines `{text, kind: attack | benign, class?, language?, carrier?, isDescription?}`. Also
 * measures what reading 10 KB of plain text costs.
 */
import { type DetectionOptions, detectInjection } from '@governance/shared/detect/inbound/detector';
import { developmentTexts } from './development-texts.ts';
import { heldOutTexts } from './held-out-texts.ts';
import {
  authorTexts,
  businessTexts,
  contrastTexts,
  goalTexts,
  hardNaturalTexts,
  plainTexts,
  quotingTexts,
  toolTexts,
} from './marked-texts.ts';
import { buyersTexts, naturalTexts, readTestLines, type TestLine } from './natural-texts.ts';
import { testTexts } from './texts.ts';

const MOST_MISSES = Number(process.env.EVAL_MISSES ?? 25);
const SHOWN = 150;

const [file = 'held-out'] = process.argv.slice(2);
const SETS: Readonly<Record<string, () => TestLine[]>> = {
  'held-out': heldOutTexts,
  development: developmentTexts,
  'test-half': testTexts,
  contrasts: contrastTexts,
  authors: authorTexts,
  natural: naturalTexts,
  'natural-hard': hardNaturalTexts,
  buyers: buyersTexts,
  business: businessTexts,
  quoting: quotingTexts,
  plain: plainTexts,
  goal: goalTexts,
  tools: toolTexts,
};
const lines = SETS[file]?.() ?? readTestLines(file);
const scored = lines.map((line) => {
  const { score, findings } = detectInjection(line.text, kindOf(line));
  const [worst] = [...findings].sort((one, other) => other.score - one.score);
  return { ...line, score, foundAs: worst?.class };
});

for (const by of ['class', 'language', 'carrier'] as const) report(by);
const attacks = scored.filter(({ kind }) => kind === 'attack');
const benign = scored.filter(({ kind }) => kind === 'benign');
const found = attacks.filter(({ score }) => score >= 0.5).length;
const alarms = benign.filter(({ score }) => score >= 0.5).length;
console.log(`\nrecall ${rate(found, attacks.length)} of ${attacks.length} attacks`);
console.log(`false positives ${rate(alarms, benign.length)} of ${benign.length} benign texts`);
list(
  'missed',
  attacks.filter(({ score }) => score < 0.5),
);
list(
  'false positives',
  benign.filter(({ score }) => score >= 0.5),
);
confuse();
measure();

/** The classes of the findings, by the attacks' true classes. */
function confuse(): void {
  const found = attacks.filter(({ score, class: name }) => score >= 0.5 && name !== undefined);
  if (found.length === 0) return;
  console.log('\nfound as (class of the attack: classes of the worst finding)');
  for (const name of [...new Set(found.map((line) => line.class))].sort()) {
    const counts = new Map<string, number>();
    for (const line of found) {
      if (line.class === name) {
        counts.set(line.foundAs ?? '', (counts.get(line.foundAs ?? '') ?? 0) + 1);
      }
    }
    const cells = [...counts].sort(([, one], [, other]) => other - one);
    console.log(`  ${name}: ${cells.map(([as, count]) => `${as} ${count}`).join(', ')}`);
  }
}

/** Descriptions are read as such. */
function kindOf({ isDescription }: TestLine): DetectionOptions {
  return { kind: isDescription ? 'tool_description' : 'result' };
}

function rate(part: number, whole: number): string {
  return whole === 0 ? '–' : (part / whole).toFixed(3);
}

function report(by: 'class' | 'language' | 'carrier'): void {
  const names = [...new Set(scored.map((line) => line[by]))].filter((name) => name !== undefined);
  if (names.length < 2) return;
  console.log(`\n${by.padEnd(24)} attacks  recall   benign  false positives`);
  for (const name of names.sort()) {
    const of = (kind: TestLine['kind']) =>
      scored.filter((line) => line.kind === kind && line[by] === name);
    const over = (list: typeof scored) => list.filter(({ score }) => score >= 0.5).length;
    const [bad, good] = [of('attack'), of('benign')];
    const cells = [
      bad.length,
      rate(over(bad), bad.length),
      good.length,
      rate(over(good), good.length),
    ];
    console.log(`${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(8)).join(' ')}`);
  }
}

function list(what: string, wrong: typeof scored): void {
  if (wrong.length === 0) return;
  console.log(`\n${what} (${Math.min(wrong.length, MOST_MISSES)} of ${wrong.length} shown)`);
  for (const line of wrong.slice(0, MOST_MISSES)) {
    const { text, score, class: name, language, carrier } = line;
    const labels = [name, language, carrier].filter((label) => label !== undefined).join(' ');
    const { reasons } = detectInjection(text, kindOf(line));
    const start = JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
    console.log(`  ${score.toFixed(2)} ${labels} ${start} ${reasons.slice(0, 5).join('; ')}`);
  }
}

/** CPU time of many runs over benign texts, about 10 KB at a time. */
function measure(): void {
  let text = '';
  for (const line of testTexts()) {
    if (line.kind === 'benign' && text.length < 10_240) text += `${line.text}\n`;
  }
  text = text.slice(0, 10_240);
  for (let run = 0; run < 100; run += 1) detectInjection(text);
  const started = process.cpuUsage();
  for (let run = 0; run < 400; run += 1) detectInjection(text);
  const { user, system } = process.cpuUsage(started);
  const micros = ((user + system) / 400).toFixed(0);
  console.log(`\n${text.length} units of plain text: ${micros} µs of CPU (mean of 400)`);
}
