/** One of OPA's cases through our compiler, metering and evaluator. */
import type { FullRegoCompiler } from '../src/compiler/rego-compiler.ts';
import { OWN_BUILTIN_FUNCTIONS } from '../src/evaluator/builtins/index.ts';
import { compilePolicyModule, PolicySandbox } from '../src/evaluator/policy-sandbox.ts';
import type { RegoValue } from '../src/evaluator/rego-value.ts';
import { compareRego, parseRegoValue, RegoObject, RegoSet } from '../src/evaluator/rego-value.ts';
import type { ConformanceCase } from './cases.ts';
import { sorted, throughJson, toJsonText } from './rego-json.ts';

export type CaseOutcome =
  | { kind: 'agree' }
  /** `by` names the built-ins, or says why the query cannot be asked. */
  | { kind: 'refused'; by: string }
  | { kind: 'differ'; detail: string };

const REFUSED = 'governance_builtin_refused';
const BUILTIN = /built-in (\S+)/;
/** A built-in that OPA registers only in its own tests. */
const TEST_BUILTIN = /undefined function (test\.\S+)/;
const BINDINGS = 'conformance_query/bindings';
/** `eval_conflict_error` as OPA's WebAssembly words it. */
const CONFLICTS = ['var assignment conflict', 'object insert conflict'];

export async function runCase(
  one: ConformanceCase,
  compiler: Pick<FullRegoCompiler, 'compileRaw'>,
): Promise<CaseOutcome> {
  const query = wrapQuery(one);
  if (query === undefined) return { kind: 'refused', by: 'a query for all of data' };
  const modules = one.modules.map((rego, i) => ({
    path: `module-${i}.rego`,
    rego,
    rego_version: one.regoVersion,
  }));
  const compiled = await compiler.compileRaw(
    [...modules, { path: 'conformance_query.rego', rego: query, rego_version: 1 }],
    [BINDINGS],
  );
  if (!compiled.ok) {
    const names = compiled.diagnostics.flatMap(
      ({ code, message }) => (code === REFUSED ? BUILTIN : TEST_BUILTIN).exec(message)?.[1] ?? [],
    );
    if (names.length > 0) {
      return { kind: 'refused', by: [...new Set(names)].sort().join(', ') };
    }
    const [first] = compiled.diagnostics;
    return { kind: 'differ', detail: `does not compile: ${first?.code} ${first?.message}` };
  }
  const module = await compilePolicyModule(compiled.wasm);
  const sandbox = new PolicySandbox(module, one.dataJson, {
    builtins: OWN_BUILTIN_FUNCTIONS,
    now: Date.now,
  });
  return judge(one, sandbox.run(one.input && withoutTrailingCommas(one.input), BINDINGS, 'rego'));
}

/**
 * A module whose single rule collects the bindings of the query's variables, as OPA's results do.
 */
function wrapQuery(one: ConformanceCase): string | undefined {
  if (/\bdata\b(?!\s*[.[])/.test(one.query.replace(/"[^"]*"/g, ''))) return undefined;
  const names = one.wantResult?.[0]?.entries.map(([name]) => name as string) ?? [];
  const bindings = names.map((name) => `${JSON.stringify(name)}: ${name}`).join(', ');
  return `package conformance_query\n\nbindings contains {${bindings}} if {\n\t${one.query}\n}\n`;
}

/** OPA's parser allows a comma before a closing bracket, its WebAssembly's does not. */
function withoutTrailingCommas(term: string): string {
  return term.replace(/,(\s*[}\]])/g, '$1');
}

function judge(one: ConformanceCase, result: ReturnType<PolicySandbox['run']>): CaseOutcome {
  const wantsError = one.wantsError && one.wantResult === undefined;
  if (wantsError && !one.strictError) {
    if (result.ok) return { kind: 'differ', detail: `expected an error, got ${result.text}` };
    const conflict = CONFLICTS.some((words) => result.message.includes(words));
    return one.wantErrorCode === 'eval_conflict_error' && conflict
      ? { kind: 'agree' }
      : { kind: 'differ', detail: `expected ${one.wantErrorCode}, got ${result.message}` };
  }
  if (!result.ok) return { kind: 'differ', detail: `${result.fault}: ${result.message}` };
  // Errors of strict mode are undefined in OPA's WebAssembly.
  const want = toBindings(one.wantResult ?? [], false);
  const got = toBindings(readBindings(result.text), one.sortBindings);
  if (compareRego(want, got) === 0) return { kind: 'agree' };
  return { kind: 'differ', detail: `expected ${toJsonText(want)}, got ${toJsonText(got)}` };
}

/** The members of `bindings` from OPA's result set. */
function readBindings(text: string): RegoObject[] {
  const results = parseRegoValue(text);
  const first = results instanceof RegoSet ? results.items[0] : undefined;
  const value = first instanceof RegoObject ? first.entries[0]?.[1] : undefined;
  return value instanceof RegoSet ? (value.items as RegoObject[]) : [];
}

function toBindings(objects: readonly RegoObject[], sort: boolean): RegoSet {
  const converted = objects.map(
    ({ entries }) =>
      new RegoObject(
        entries.map(([name, value]): [RegoValue, RegoValue] => {
          const plain = throughJson(value);
          return [name, sort ? sorted(plain) : plain];
        }),
      ),
  );
  const unique = converted.filter(
    (item, i) => converted.findIndex((other) => compareRego(item, other) === 0) === i,
  );
  return new RegoSet(unique);
}
