/**
 * `npm run conformance:rego`: OPA's own test cases through our compiler, metering and evaluator.
 * Prints how many agree, are refused by name, are excepted by OPA itself, and differ. Exits with 1
 * unless at least 2,000 agree and none differs. `--allow-missing-go` exits with 0 where Go, which
 * finds the cases, is missing; `--note <text>` runs only the cases whose name holds the text.
 */
import { createRegoCompiler } from '../src/compiler/rego-compiler.ts';
import { readCases, readExceptions } from './cases.ts';
import { findOpaSource, GoMissingError } from './opa-source.ts';
import { type CaseOutcome, runCase } from './run-case.ts';

const WANTED_AGREEMENTS = 2_000;

const args = process.argv.slice(2);
const noteFilter = args.includes('--note') ? args[args.indexOf('--note') + 1] : undefined;

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof GoMissingError)) throw error;
  console.error(`conformance:rego: ${error.message}`);
  process.exitCode = args.includes('--allow-missing-go') ? 0 : 1;
}

async function run(): Promise<number> {
  const opaSource = findOpaSource();
  const exceptions = readExceptions(opaSource);
  const cases = readCases(opaSource).filter(
    ({ note }) => noteFilter === undefined || note.includes(noteFilter),
  );
  const started = performance.now();
  const compiler = createRegoCompiler();
  const refusals = new Map<string, number>();
  const counts = { agree: 0, refused: 0, excepted: 0, differ: 0 };
  try {
    for (const one of cases) {
      if (exceptions.has(one.note)) {
        counts.excepted++;
        continue;
      }
      const outcome = await runCase(one, compiler).catch(
        (error: unknown): CaseOutcome => ({ kind: 'differ', detail: String(error) }),
      );
      counts[outcome.kind]++;
      if (outcome.kind === 'refused') {
        refusals.set(outcome.by, (refusals.get(outcome.by) ?? 0) + 1);
      } else if (outcome.kind === 'differ') {
        console.log(`differs: ${one.note} (${one.file})\n  ${outcome.detail}`);
      }
    }
  } finally {
    await compiler.close();
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`OPA's cases: ${cases.length}, run in ${seconds} s`);
  console.log(`agree: ${counts.agree}`);
  console.log(`refused by name: ${counts.refused}`);
  for (const [by, count] of [...refusals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`  ${count} × ${by}`);
  }
  console.log(`excepted by OPA: ${counts.excepted}`);
  console.log(`differ: ${counts.differ}`);
  const enough = noteFilter !== undefined || counts.agree >= WANTED_AGREEMENTS;
  return enough && counts.differ === 0 ? 0 : 1;
}
