/** The WebAssembly that decides a call answers as OPA's interpreter, which explains it. */
import { expect, test } from 'vitest';
import { loadPolicyEngine } from '../evaluator/policy-engine.ts';
import { aPolicyInput, testCompiler } from '../testing/test-policies.ts';

const { compiler } = testCompiler();

const HOLDS = [
  String.raw`glob.match("/etc/**", ["/"], "/etc/a\n/../passwd")`,
  String.raw`glob.match("*secret*", null, "x\nsecret")`,
  String.raw`glob.match("*secret", [], "x\r\nsecret")`,
  String.raw`glob.match("?secret", null, "\nsecret")`,
  String.raw`glob.match("{*,x}secret*", ["/"], "x\nsecret\n")`,
  'net.cidr_contains("10.0.0.0/8", "::ffff:10.0.0.1")',
  'net.cidr_contains("10.0.0.0/8", "0:0:0:0:0:ffff:a00:1")',
  'net.cidr_intersects("10.0.0.0/8", "::ffff:10.0.0.0/104")',
  'not json.is_valid("10.0.0.1")',
  'not json.is_valid("0x10")',
  'not json.is_valid("05")',
  'json.is_valid("[1e3, {}]")',
  'not json.unmarshal("[1] x")',
  'json.unmarshal("{\\"a\\": 1, \\"a\\": 200}").a == 200',
  'json.unmarshal("[9007199254740993]")[0] == 9007199254740993',
  String.raw`json.unmarshal("\"\\ud800\"") == "\ufffd"`,
  'not base64.decode("c2Vj cmV0")',
  String.raw`base64.decode("c2Vj\ncmV0\n") == "secret"`,
  'startswith(base64.decode("YcP/YmI="), "a")',
  'endswith(base64.decode("YcP/YmI="), "bb")',
  'base64.decode("YcP/YmI=") != base64.decode("YcT/YmI=")',
  String.raw`not base64url.decode("c2VjcmV0\n")`,
  String.raw`base64.is_valid("c2VjcmV0\n")`,
  'to_number("+5") == 5',
  'to_number("1_000") == 1000',
  'to_number(".5") < 1',
  'not to_number("0x10")',
  'format_int(2147483648, 10) == "2147483648"',
  'format_int(-4294967297.5, 16) == "-100000001"',
  'glob.match("a", null, "b") with glob.match as true',
];

test('built-ins that OPA’s own WebAssembly answers differently', async () => {
  const rules = HOLDS.map((body, i) => `deny contains "rule ${i}" if ${body}`).join('\n');
  const sources = [{ id: 'p-1', name: 'P', rego: `package a\n\n${rules}` }];
  const compiled = await compiler.compile(sources);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const engine = await loadPolicyEngine(compiled.wasm, {});
  const outcome = engine.evaluate(aPolicyInput());
  if (!outcome.ok) throw new Error(outcome.message);
  const explained = await compiler.explain(sources, aPolicyInput(), {});
  const held = (reasons: readonly { message: string }[]) =>
    reasons.map((one) => one.message).sort();
  expect(held(explained.verdict.reasons)).toEqual(HOLDS.map((_, i) => `rule ${i}`).sort());
  expect(held(outcome.verdict.reasons)).toEqual(held(explained.verdict.reasons));
});
