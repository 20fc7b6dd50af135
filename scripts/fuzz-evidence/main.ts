/**
 * `npm run fuzz:evidence -- [mutations] [seed]`: checks that no mutated package verifies unless it
 * has a good package's members byte for byte, that none ends in an error, and that memory stays
 * within the limit of a verification; for a tenth of them, that the second implementation agrees
 * check by check. Prints how many of each class there were, and exits with 1 if any of this fails.
 */
import { compareOpinions } from '../../verifier/testing/compare-opinions.ts';
import { fuzzEvidence } from '../../verifier/testing/fuzz.ts';
import { findMissingPython } from '../../verifier/testing/second-opinion.ts';

/** Of the whole process, including what mutating needs. */
const MAX_RSS_MIB = 256;
/** Packages between two lines of progress. */
const PROGRESS_EVERY = 10_000;

const [given = '100000', seedGiven = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
const [mutations, seed] = [Number(given), Number(seedGiven)];
// First, so that a run that is cut off can be repeated.
console.error(`seed ${seed}: ${mutations} packages`);
const report = await fuzzEvidence(seed, mutations, (count) => {
  if (count % PROGRESS_EVERY === 0) console.error(`${count} looked at`);
});
const missing = findMissingPython();
if (missing !== undefined) console.warn(`not compared: ${missing}`);
const compared = missing === undefined ? Math.ceil(mutations / 10) : 0;
const differences = await compareOpinions(seed, compared);
console.log(JSON.stringify({ ...report, compared, differences }, null, 2));

const faults = [
  ['verified', report.verified.length],
  ['crashes', report.crashes.length],
  ['differences', differences.length],
  [
    'classes without a package',
    Object.values(report.classes).filter((one) => one.packages === 0).length,
  ],
  ['MiB too many', Math.max(0, report.peak_mib.rss - MAX_RSS_MIB)],
] as const;
for (const [what, count] of faults) if (count > 0) console.error(`${count} ${what}`);
process.exitCode = faults.every(([, count]) => count === 0) ? 0 : 1;
