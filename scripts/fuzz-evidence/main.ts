/**
 * `npm run fuzz:evidence -- [mutations] [seed]`: none of as many mutated packages is verified, and of
 * a tenth of them the second implementation says the same, check by check.
 */
import { compareOpinions } from '../../verifier/testing/compare-opinions.ts';
import { fuzzEvidence } from '../../verifier/testing/fuzz.ts';
import { findMissingPython } from '../../verifier/testing/second-opinion.ts';

const [mutations = '100000', given = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
const seed = Number(given);
const report = await fuzzEvidence(seed, Number(mutations));
const missing = findMissingPython();
if (missing !== undefined) console.warn(`not compared: ${missing}`);
const differences =
  missing === undefined ? await compareOpinions(seed, Math.ceil(Number(mutations) / 10)) : null;
console.log(JSON.stringify({ ...report, differences }, null, 2));
process.exitCode = report.verified.length === 0 && (differences?.length ?? 0) === 0 ? 0 : 1;
