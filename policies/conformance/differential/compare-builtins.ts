/** Compares single calls of our built-ins with those of a stock OPA. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createRegoCompiler } from '../../src/compiler/rego-compiler.ts';
import { OWN_BUILTIN_FUNCTIONS } from '../../src/evaluator/builtins/index.ts';
import { compilePolicyModule, PolicySandbox } from '../../src/evaluator/policy-sandbox.ts';
import { generateCalls, PROBE } from './builtin-calls.ts';

/** Calls evaluated together; more would need more fuel than a decision has. */
const BATCH = 32;

export interface BuiltinComparison {
  calls: number;
  /** How many of them were undefined in OPA. */
  undefinedCalls: number;
  /** Calls that our limits refuse but OPA answers. */
  refused: { call: string; message: string }[];
  differences: { call: string; opa: unknown; ours: unknown }[];
}

/**
 * Makes `callsEach` calls of each built-in with generated arguments. Needs `opa` on the path.
 */
export async function compareBuiltins(seed: number, callsEach: number): Promise<BuiltinComparison> {
  const calls = generateCalls(seed, callsEach);
  const expected = askOpa(calls);
  const ours = await askOurs(calls);
  const comparison: BuiltinComparison = {
    calls: calls.length,
    undefinedCalls: calls.filter((_, i) => expected[i] === undefined).length,
    refused: [],
    differences: [],
  };
  calls.forEach((call, i) => {
    const answer = ours[i];
    if (answer !== undefined && 'refused' in answer) {
      comparison.refused.push({ call, message: answer.refused });
    } else if (!isDeepStrictEqual(expected[i], answer?.value)) {
      comparison.differences.push({ call, opa: expected[i], ours: answer?.value });
    }
  });
  return comparison;
}

function askOpa(calls: readonly string[]): unknown[] {
  const folder = mkdtempSync(join(tmpdir(), 'governance-builtins-'));
  try {
    const probe = join(folder, 'probe.rego');
    const input = join(folder, 'input.json');
    writeFileSync(probe, PROBE);
    writeFileSync(input, `{"calls":[${calls.join(',')}]}`);
    const out = execFileSync(
      'opa',
      ['eval', '--format', 'json', '--data', probe, '--input', input, 'data.probe.results'],
      { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
    );
    const parsed = JSON.parse(quoteIntegers(out)) as {
      result: { expressions: { value: Record<string, unknown> }[] }[];
    };
    const results = parsed.result[0]?.expressions[0]?.value ?? {};
    return calls.map((_, i) => results[i]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type OurAnswer = { value: unknown } | { refused: string } | undefined;

async function askOurs(calls: readonly string[]): Promise<OurAnswer[]> {
  const compiler = createRegoCompiler();
  try {
    const compiled = await compiler.compileRaw(
      [{ path: 'probe.rego', rego: PROBE }],
      ['probe/results'],
    );
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const sandbox = new PolicySandbox(await compilePolicyModule(compiled.wasm), '{}', {
      builtins: OWN_BUILTIN_FUNCTIONS,
      now: Date.now,
    });
    const answers: OurAnswer[] = [];
    for (let from = 0; from < calls.length; from += BATCH) {
      answers.push(...askBatch(sandbox, calls.slice(from, from + BATCH)));
    }
    return answers;
  } finally {
    await compiler.close();
  }
}

/** A batch with a refused call is repeated call by call. */
function askBatch(sandbox: PolicySandbox, calls: readonly string[]): OurAnswer[] {
  const result = sandbox.run(`{"calls":[${calls.join(',')}]}`, 'probe/results');
  if (!result.ok) {
    if (calls.length > 1) return calls.flatMap((call) => askBatch(sandbox, [call]));
    return [{ refused: `${result.fault}: ${result.message}` }];
  }
  const [first] = JSON.parse(quoteIntegers(result.text)) as { result: Record<string, unknown> }[];
  return calls.map((_, i) =>
    first && Object.hasOwn(first.result, String(i)) ? { value: first.result[i] } : undefined,
  );
}

/**
 * Integers as strings: a double cannot distinguish all of them. Strings in the text stay unchanged.
 */
function quoteIntegers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    /^-?\d+$/.test(token) ? `"#${token}"` : token,
  );
}
