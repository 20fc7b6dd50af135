/**
 * `npm run differential:opa`: a stock OPA and our evaluator decide the same calls from the same
 * signed bundles, made by the control plane's own writer; all decisions must be equal, reasons
 * included. Then each of our built-ins must answer generated calls as OPA's does. Needs `opa` on
 * the path (`go install github.com/open-policy-agent/opa@v1.22.0`).
 */
import { composeBundle } from '../control-plane/src/bundles/bundle-content.ts';
import { compareBuiltins } from '../policies/conformance/differential/compare-builtins.ts';
import { findOpa } from '../policies/conformance/differential/opa-server.ts';
import { runDifferential } from '../policies/conformance/differential/run-differential.ts';

const SEED = 20260101;
const WANTED_EACH = 100;
const WANTED_INPUTS = 500;
const WANTED_POLICIES = 20;

const version = findOpa();
if (version === undefined) {
  console.error('differential:opa: no opa was found on the PATH to compare with.');
  process.exitCode = process.argv.includes('--allow-missing-opa') ? 0 : 1;
} else {
  process.exitCode = await run(version);
}

async function run(opaVersion: string): Promise<number> {
  const report = await runDifferential({
    writeBundle: async (request) => (await composeBundle({ ...request, revision: 1 })).bytes,
    inputsTogether: 1_000,
    inputsAlone: 80,
    seed: SEED,
  });
  const { allow, deny, escalate } = report.decisions;
  console.log(`OPA ${opaVersion}: ${report.policies} policies, ${report.inputs} inputs`);
  console.log(`allow ${allow}, deny ${deny}, escalate ${escalate}`);
  console.log(`our built-ins used: ${report.builtins.length}`);
  if (report.builtinsUnused.length > 0)
    console.log(`not used: ${report.builtinsUnused.join(', ')}`);
  for (const { set, input, opa, ours } of report.differences.slice(0, 10)) {
    console.log(`differs in ${set}\n  input ${input}`);
    console.log(`  opa   ${JSON.stringify(opa)}\n  ours  ${JSON.stringify(ours)}`);
  }
  console.log(`differences: ${report.differences.length}`);
  const calls = await compareBuiltins(SEED, 500);
  console.log(
    `single calls of built-ins: ${calls.calls}, ${calls.undefinedCalls} undefined in OPA, ` +
      `${calls.refused.length} refused by our bounds, ${calls.differences.length} differ`,
  );
  for (const { call, opa, ours } of calls.differences.slice(0, 10)) {
    console.log(`  ${call}\n    opa  ${JSON.stringify(opa)}\n    ours ${JSON.stringify(ours)}`);
  }
  const enough =
    report.policies >= WANTED_POLICIES &&
    report.inputs >= WANTED_INPUTS &&
    Math.min(allow, deny, escalate) >= WANTED_EACH &&
    report.builtinsUnused.length === 0;
  if (!enough) console.log('too few policies, inputs, decisions of a kind or built-ins');
  const differences = report.differences.length + calls.differences.length;
  return enough && differences === 0 ? 0 : 1;
}
