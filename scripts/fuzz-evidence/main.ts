/** `npm run fuzz:evidence -- [mutations] [seed]`: none of as many mutated packages is verified. */
import { fuzzEvidence } from '../../verifier/testing/fuzz.ts';

const [mutations = '100000', seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
const report = await fuzzEvidence(Number(seed), Number(mutations));
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.verified.length === 0 ? 0 : 1;
