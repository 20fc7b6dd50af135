import { afterAll, describe, expect, test } from 'vitest';
import { OWN_BUILTINS, wasmBuiltinName } from '../builtin-names.ts';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const check = (rego: string) => compiler.check({ id: 'p-1', name: 'P', rego });
const compile = (rego: string) => compiler.compile([{ id: 'p-1', name: 'P', rego }]);

const CALLS: Record<(typeof OWN_BUILTINS)[number], string> = {
  sprintf: 'sprintf("%d", [1])',
  'time.now_ns': 'time.now_ns()',
  'time.clock': 'time.clock(0)',
  'time.date': 'time.date(0)',
  'time.weekday': 'time.weekday(0)',
  'time.parse_rfc3339_ns': 'time.parse_rfc3339_ns("2025-01-01T00:00:00Z")',
  'time.add_date': 'time.add_date(0, 1, 1, 1)',
  'object.subset': 'object.subset({"a": 1}, {"a": 1})',
  'regex.replace': 'regex.replace("a", "b", "c")',
  'hex.encode': 'hex.encode("a")',
  'hex.decode': 'hex.decode("61")',
  'crypto.sha256': 'crypto.sha256("a")',
  'semver.compare': 'semver.compare("1.0.0", "1.0.1")',
  'semver.is_valid': 'semver.is_valid("1.0.0")',
  'units.parse_bytes': 'units.parse_bytes("1K")',
  'glob.match': 'glob.match("a*", null, "ab")',
  'net.cidr_contains': 'net.cidr_contains("10.0.0.0/8", "10.0.0.1")',
  'net.cidr_overlap': 'net.cidr_overlap("10.0.0.0/8", "10.0.0.1")',
  'net.cidr_intersects': 'net.cidr_intersects("10.0.0.0/8", "10.0.0.0/9")',
  'json.is_valid': 'json.is_valid("{}")',
  'json.unmarshal': 'json.unmarshal("{}")',
  'base64.decode': 'base64.decode("YQ==")',
  'base64.is_valid': 'base64.is_valid("YQ==")',
  'base64url.decode': 'base64url.decode("YQ")',
  to_number: 'to_number("1")',
  format_int: 'format_int(1, 10)',
};

test.each(OWN_BUILTINS.map((name) => [name]))('%s is ours under its own name', async (name) => {
  // A deprecated one can be called in the older Rego only.
  const body = name === 'net.cidr_overlap' ? '{ x }' : 'if x';
  const rego = `package a\n\nallow ${body}\n\nx := ${CALLS[name]}\n`;
  const result = await compile(rego);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  expect(result.builtins).toEqual([wasmBuiltinName(name)]);
  expect(Buffer.from(result.wasm).includes(wasmBuiltinName(name))).toBe(true);
  expect(result.modules.at(-1)?.rego).toContain(CALLS[name]);
  expect((await check(rego)).builtins).toEqual([name]);
});

describe('refused by name, with the line', () => {
  test.each([
    ['http.send', 'x := http.send({"method": "get", "url": "http://x"})'],
    ['net.lookup_ip_addr', 'x := net.lookup_ip_addr("x")'],
    ['opa.runtime', 'x := opa.runtime()'],
    ['rand.intn', 'x := rand.intn("a", 5)'],
    ['uuid.rfc4122', 'x := uuid.rfc4122("a")'],
    ['io.jwt.decode', 'x := io.jwt.decode("a")'],
    ['io.jwt.decode_verify', 'x := io.jwt.decode_verify("a", {})'],
    ['regex.split', 'x := regex.split("a", "b")'],
    ['yaml.unmarshal', 'x := yaml.unmarshal("a")'],
    ['yaml.marshal', 'x := yaml.marshal("a")'],
    ['yaml.is_valid', 'x if yaml.is_valid("a")'],
    ['trace', 'x if trace("a")'],
    ['json.patch', 'x := json.patch({}, [])'],
    ['rego.parse_module', 'x := rego.parse_module("a", "package a")'],
    ['graphql.parse', 'x := graphql.parse("a", "b")'],
    ['strings.render_template', 'x := strings.render_template("a", {})'],
    ['crypto.md5', 'x := crypto.md5("a")'],
    ['time.parse_ns', 'x := time.parse_ns("a", "b")'],
    ['internal.print', 'x if internal.print([{1}])'],
    ['internal.test_case', 'x if internal.test_case([1])'],
  ])('%s', async (name, rule) => {
    expect((await check(`package a\n\n${rule}`)).diagnostics).toMatchObject([
      {
        code: 'governance_builtin_refused',
        message: `built-in ${name} is not available to policies`,
        row: 3,
        policy_id: 'p-1',
      },
    ]);
  });

  test.each([
    ['as the value of a with', 'x if count([1]) == 1 with count as http.send'],
    ['as the target of a with', 'x if y with http.send as f\nf(_) := 1\ny if true'],
    ['in place of one of ours', 'x if sprintf("a", []) with sprintf as http.send'],
    ['in place of a function of the policy', 'x if f(1) with f as http.send\nf(_) := 1'],
    ['deep in a comprehension', 'x := {y | y := [z | z := [http.send({})]]}'],
    ['in the head', 'x := http.send({}) if true'],
    ['in an argument', 'x if count(http.send({})) == 1'],
    ['in else', 'x := 1 if input.y else := http.send({})'],
    ['in every', 'x if every y in [1] { http.send({"y": y}) }'],
    ['in a key', 'x contains http.send({})'],
    ['in a head’s reference', 'x[http.send({})].y := 1'],
    ['in not', 'x if not http.send({})'],
    ['in a template string', 'x := $"{http.send({})}"'],
    ['in v0', 'x = y { y := http.send({}) }'],
    ['in some', 'x if { some y in http.send({}); y }'],
  ])('%s', async (_, rule) => {
    expect((await check(`package a\n\n${rule}`)).diagnostics[0]).toMatchObject({
      code: 'governance_builtin_refused',
      message: 'built-in http.send is not available to policies',
      row: 3,
    });
  });
});

describe('names are resolved before they are judged', () => {
  test('a rule named like a built-in is the rule', async () => {
    const result = await compile(
      'package a\nsprintf(x, _) := x\ntrace(x) := x\nallow if sprintf(trace("a"), [])',
    );
    expect(result).toMatchObject({ ok: true, builtins: [] });
  });

  test('an import named like a built-in is the import', async () => {
    const result = await compile(
      'package a\nimport data.a.b as time\nallow if time.now_ns\nb := {"now_ns": 1}',
    );
    expect(result).toMatchObject({ ok: true, builtins: [] });
  });

  test('an author cannot call the WebAssembly’s names', async () => {
    const { diagnostics } = await check('package a\nx := governance.sprintf("a", [])');
    expect(diagnostics).toMatchObject([{ code: 'rego_type_error', row: 2, col: 6 }]);
  });

  test('with may replace ours by a function, and a function by ours', async () => {
    const result = await compile(
      'package a\nallow if time.now_ns() == 1 with time.now_ns as now\nnow() := 1\ndeny contains f(1) with f as hex.encode\nf(x) := x',
    );
    expect(result).toMatchObject({ ok: false });
    const fixed = await compile(
      'package a\nallow if time.now_ns() == 1 with time.now_ns as 1\ndeny contains x if { x := f("1") with f as hex.encode }\nf(x) := x',
    );
    expect(fixed).toMatchObject({ ok: true });
  });

  test('a value under input that is named like a built-in stays a value', async () => {
    const result = await compile(
      'package a\nallow if { time := {"now_ns": 1}; input.x with input.x as time.now_ns }',
    );
    expect(result).toMatchObject({ ok: true, builtins: [] });
  });
});

test('print is accepted and leaves nothing behind', async () => {
  const result = await compile('package a\nallow if { print("x", input.y); input.y }');
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  expect(result.builtins).toEqual([]);
  expect(Buffer.from(result.wasm).includes('internal.print')).toBe(false);
});
