/**
 * `npm run bench:dlp`: the cost of scanning for sensitive data, as ratios within one run: CPU time
 * of this process, the minimum of several rounds that measure all variants in turn. Exits with 1 if
 * a goal is missed.
 *
 * - clean text: the built-in patterns as a loop over JavaScript expressions / as the engine's set
 * - clean text: the whole scanner with all its readings / the plain scan without readings
 * - hostile text: how the scanner's time grows as a text doubles, and how much more a character
 *   costs than one of clean text
 *
 * BENCH_ROUNDS (9)
 */
import { createPlainScan } from '../shared/src/detect/dlp/plain-scan.ts';
import { createScanBudget, ScanBudgetError } from '../shared/src/detect/dlp/scan-budget.ts';
import { createDlpScanner } from '../shared/src/detect/dlp/scanner.ts';
import { createPatternSet } from '../shared/src/detect/engine/pattern-set.ts';
import { builtinExpressions, toJavaScript } from './dlp/expressions.ts';
import { cleanText, HOSTILE } from './dlp/texts.ts';
import { leastCpuMicros } from './dlp/turns.ts';

const SIZES = [300, 1_000, 10_000, 1_000_000];
/** The engine's goal applies from this size. */
const GOAL_FROM = 1_000;
const ENGINE_GOAL = 3;
const SCANNER_GOAL = 3;
const HOSTILE_SIZES = [32_000, 64_000, 128_000];
/**
 * Characters of the texts of one size, which are scanned in turn: more than the engine's automaton
 * caches the states of. The same for each size: otherwise short texts would be found in its cache,
 * and long ones not.
 */
const HOSTILE_CHARACTERS = 2_048_000;
const GROWTH_GOAL = 2.5;
/** Linear is not cheap: each expression more may multiply the states of random text. */
const TIMES_CLEAN_GOAL = 500;
/** The size of the clean text that hostile ones are compared with. */
const CLEAN_SIZE = 10_000;

let missed = 0;
const expressions = builtinExpressions();
const loop = expressions.map(({ regex }) => toJavaScript(regex));
const set = createPatternSet(expressions, 'builtin');
const plain = createPlainScan({});
const scanner = createDlpScanner({});

console.log(`${expressions.length} expressions, µs of CPU a scan\n`);
console.log(
  '| clean text | loop | engine | loop / engine | | plain | scanner | scanner / plain | |',
);
console.log('|---|---:|---:|---:|---|---:|---:|---:|---|');
let cleanEach = 0;
for (const size of SIZES) {
  const text = cleanText(size);
  const times = leastCpuMicros([
    () => loop.filter((expression) => expression.test(text)),
    () => set.hits(text),
    () => plain.scan(text, createScanBudget(text.length)),
    () => scanner.scanText(text),
  ]);
  const [byLoop = 0, byEngine = 0, byPlain = 0, byScanner = 0] = times;
  const engine = byLoop / byEngine;
  const whole = byScanner / byPlain;
  if (size === CLEAN_SIZE) cleanEach = byScanner / size;
  const isMeant = size >= GOAL_FROM;
  console.log(
    [
      `| ${size}`,
      round(byLoop),
      round(byEngine),
      round(engine),
      isMeant ? verdict(engine >= ENGINE_GOAL) : '',
      round(byPlain),
      round(byScanner),
      round(whole),
      `${verdict(whole <= SCANNER_GOAL)} |`,
    ].join(' | '),
  );
}

/** A text over the scanner's budget is refused; its cost is what was spent until then. */
function scanUntilRefused(text: string): void {
  try {
    scanner.scanText(text);
  } catch (error) {
    if (!(error instanceof ScanBudgetError)) throw error;
  }
}

const sizes = HOSTILE_SIZES.join(' | ');
console.log(`\n| hostile text | ${sizes} | µs a character | times clean | growth | |`);
console.log(`|---|${HOSTILE_SIZES.map(() => '---:|').join('')}---:|---:|---:|---|`);
for (const { name, make } of HOSTILE) {
  const times = HOSTILE_SIZES.map((size) => {
    const count = HOSTILE_CHARACTERS / size;
    const texts = Array.from({ length: count }, (_, seed) => make(size, seed));
    let turn = 0;
    const scanNext = () => scanUntilRefused(texts[turn++ % count] ?? '');
    return leastCpuMicros([scanNext], 2)[0] ?? 0;
  });
  const [first = 1] = times;
  const last = times.at(-1) ?? 0;
  const growth = (last / first) ** (1 / (times.length - 1));
  const cells = times.map((time) => round(time));
  const each = last / (HOSTILE_SIZES.at(-1) ?? 1);
  const timesClean = each / cleanEach;
  const isMet = growth <= GROWTH_GOAL && timesClean <= TIMES_CLEAN_GOAL;
  console.log(
    [
      `| ${name}`,
      ...cells,
      each.toFixed(2),
      timesClean.toFixed(0),
      growth.toFixed(2),
      `${verdict(isMet)} |`,
    ].join(' | '),
  );
}
scanner.close();
console.log(missed === 0 ? '\nall goals met' : `\n${missed} goals missed`);
process.exitCode = missed === 0 ? 0 : 1;

function verdict(isMet: boolean): string {
  if (!isMet) missed++;
  return isMet ? 'met' : 'missed';
}

function round(value: number): string {
  return value >= 20 ? value.toFixed(0) : value.toFixed(1);
}
