import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PolicyInput, PolicyVerdict } from '../contract.ts';
import { aPolicyInput, testCompiler, verdictRego } from '../testing/test-policies.ts';
import { isVerdict, loadPolicyEngine } from './policy-engine.ts';
import { compilePolicyModule, PolicySandbox } from './policy-sandbox.ts';

const { compiler, decision, policies } = testCompiler();
const allow = verdictRego('allow');

/** An engine over `decision` rules as they stand, with a helper that asks it. */
async function engineOf(rego: string, data: unknown = {}) {
  return loadPolicyEngine(await decision(rego), data);
}

describe('a decision', () => {
  test('is the verdict of the active policies, with their reasons', async () => {
    const engine = await loadPolicyEngine(
      await policies(
        'package a\nallow if input.request.action == "read"',
        'package b\nescalate contains "risky" if input.agent.risk_score > 50',
        'package c\ndeny contains sprintf("no %s", [input.request.tool_name]) if input.request.action == "delete"',
      ),
      { settings: {} },
    );
    expect(engine.evaluate(aPolicyInput())).toMatchObject({
      ok: true,
      verdict: { decision: 'allow', reasons: [{ policy_id: 'policy-0', rule: 'allow' }] },
    });
    expect(engine.evaluate(aPolicyInput({}, { risk_score: 60 }))).toMatchObject({
      ok: true,
      verdict: {
        decision: 'escalate',
        reasons: [
          { policy: 'Policy 1', rule: 'escalate', message: 'risky' },
          { policy: 'Policy 0', rule: 'allow' },
        ],
      },
    });
    expect(engine.evaluate(aPolicyInput({ action: 'delete', tool_name: 'rm' }))).toEqual({
      ok: true,
      verdict: {
        decision: 'deny',
        reasons: [{ policy_id: 'policy-2', policy: 'Policy 2', rule: 'deny', message: 'no rm' }],
      },
    });
    expect(engine.evaluate(aPolicyInput({ action: 'write' }))).toMatchObject({
      ok: true,
      verdict: { decision: 'deny', reasons: [{ policy: 'default' }] },
    });
  });

  test('reads the data document, and new data without a new policy', async () => {
    const engine = await engineOf(`decision := ${allow} if data.settings.open == true`, {
      settings: { open: false },
    });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: false, fault: 'undefined' });
    engine.setData({ settings: { open: true } });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
    engine.setData({ settings: {} });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: false, fault: 'undefined' });
  });

  test('keeps the data from before when new data does not fit', async () => {
    const engine = await engineOf(`decision := ${allow} if data.settings.open == true`, {
      settings: { open: true },
    });
    const tooMuch = { settings: { open: false, list: Array.from({ length: 600_000 }, () => 1) } };
    expect(() => engine.setData(tooMuch)).toThrow();
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
  });

  test('sees one time throughout, the one of the clock given', async () => {
    const wasm = await decision(`decision := ${allow} if {
      count({time.now_ns() | some _ in numbers.range(1, 50)}) == 1
      time.now_ns() == 1767225600123000000
    }`);
    let now = Date.parse('2026-01-01T00:00:00.123Z');
    const engine = await loadPolicyEngine(wasm, {}, { now: () => now++ });
    now = Date.parse('2026-01-01T00:00:00.123Z');
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: false, fault: 'undefined' });
  });

  test('is shared by calls that get the same one, and no call can change it', async () => {
    const engine = await engineOf(`decision := ${allow}`);
    const first = engine.evaluate(aPolicyInput());
    expect(engine.evaluate(aPolicyInput({ tool_name: 'other' }))).toBe(first);
    if (!first.ok) throw new Error(first.message);
    const { verdict } = first;
    expect(() => verdict.reasons.push({ ...verdict.reasons[0] } as never)).toThrow(TypeError);
    expect(() => Object.assign(verdict, { decision: 'deny' })).toThrow(TypeError);
  });
});

describe('no verdict is a fault', () => {
  const faults: [string, string, string][] = [
    ['no decision', `decision := ${allow} if input.nothing`, 'undefined'],
    ['an unknown decision', `decision := ${verdictRego('permit')}`, 'malformed_verdict'],
    ['a bare value', 'decision := true', 'malformed_verdict'],
    [
      'reasons that are none',
      'decision := {"decision": "allow", "reasons": ["x"]}',
      'malformed_verdict',
    ],
    [
      'a member too many',
      'decision := {"decision": "allow", "reasons": [], "also": 1}',
      'malformed_verdict',
    ],
    ['no reasons', 'decision := {"decision": "allow"}', 'malformed_verdict'],
    [
      'two values of one rule',
      `decision := ${allow} if input.agent\ndecision := ${verdictRego('deny')} if input.request`,
      'trap',
    ],
    [
      'a limit of a built-in',
      `decision := ${allow} if sprintf("%5000d", [1]) != ""`,
      'builtin_error',
    ],
  ];

  test.each(faults)('%s', async (_what, rego, fault) => {
    const engine = await engineOf(rego);
    const input = aPolicyInput({}, { id: 'x'.repeat(64) });
    const first = engine.evaluate(input);
    expect(first).toMatchObject({ ok: false, fault });
    expect(first).toHaveProperty('message', expect.stringMatching(/^.+$/));
    // The instance is made anew; the answer stays the same.
    expect(engine.evaluate(input)).toEqual(first);
  });

  test('a verdict longer than any is one', async () => {
    const engine = await engineOf(`decision := {"decision": "allow", "reasons": [{
      "policy_id": concat("", [input.request.resource | some _ in numbers.range(1, 6)]),
      "policy": "", "rule": "allow", "message": "",
    }]}`);
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
    const outcome = engine.evaluate(aPolicyInput({ resource: 'x'.repeat(25_000) }));
    expect(outcome).toMatchObject({ ok: false, fault: 'malformed_verdict' });
  });

  test('an input that OPA cannot read is one, though no rule would need it', async () => {
    const engine = await engineOf(`decision := ${allow}`);
    for (const input of ['', '{', '{"a":1,}', '{"a":"\\ud800"}', 'nonsense', '{"a":"\u0001"}']) {
      expect(engine.evaluateRaw(input)).toMatchObject({ ok: false, fault: 'trap' });
    }
    const surrogate = aPolicyInput({ resource: 'a\ud800b' });
    expect(engine.evaluate(surrogate)).toMatchObject({ ok: false, fault: 'trap' });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
  });

  test('an input that JSON cannot write is one', async () => {
    const engine = await engineOf(`decision := ${allow}`);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const parameters of [circular, { big: 1n }]) {
      expect(engine.evaluate(aPolicyInput({ parameters }))).toMatchObject({ ok: false });
    }
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
  });
});

describe('hostile', () => {
  const twice = 'some a in numbers.range(1, 3000); some b in numbers.range(1, 3000)';
  const bodies: Record<string, string> = {
    'nested loops': `count([1 | ${twice}]) > 0`,
    'large sets': `count({[a, b] | ${twice}}) > 0`,
    'copies of the input': `count([[a, b, input] | ${twice}]) > 0`,
    'one long string': `count(concat("", [input.agent.name | ${twice}])) > 0`,
    'regular expressions': `count([1 | ${twice}; regex.match("(x+x+)+y", input.agent.owner)]) > 0`,
    formats: `count([1 | ${twice}; sprintf("%900d %.900f", [a, 1.5e300]) != ""]) > 0`,
    replacements: `count([1 | ${twice}; regex.replace(input.agent.owner, "(x?){30}x{30}", "y$1") != ""]) > 0`,
    'patterns made on the way': `count([1 | ${twice}; regex.replace("x", sprintf("(a|b){1,%d}[^x]{1,%d}", [a % 300, b % 300]), "") != ""]) > 0`,
    'time zones': `count([1 | ${twice}; time.clock([a, ["Asia/Tokyo", "Africa/Cairo", "Europe/Rome"][b % 3]])]) > 0`,
    comparisons: `count([1 | ${twice}; object.subset(numbers.range(1, 500), [a, b])]) > 0`,
    hashes: `count([1 | ${twice}; crypto.sha256(sprintf("%d", [a + b])) == ""]) >= 0`,
    sizes: `count([1 | ${twice}; units.parse_bytes("1.23456789e399kib") == a]) >= 0`,
    documents: `count([1 | ${twice}; json.unmarshal(json.marshal(input))]) > 0`,
    walks:
      'count([1 | walk(input, [_, _]); walk(input, [_, _]); walk(input, [_, _]); walk(input, [_, _])]) > 0',
  };

  test.each(
    Object.entries(bodies),
  )('%s: denied in time, and the next decision is right', async (_what, body) => {
    const engine = await engineOf(`
      decision := ${allow} if input.request.tool_name == "honest"
      decision := ${verdictRego('deny')} if { input.request.tool_name == "hostile"; ${body} }
    `);
    const hostile = aPolicyInput({ tool_name: 'hostile' }, { owner: 'x'.repeat(200) });
    const honest = aPolicyInput({ tool_name: 'honest' });
    for (let i = 0; i < 3; i++) {
      const outcome = engine.evaluate(hostile);
      expect(outcome).toMatchObject({ ok: false });
      expect(['out_of_fuel', 'out_of_memory']).toContain(outcome.ok ? '' : outcome.fault);
      // Each of them ran out; what nobody meters would run past the time of the test.
      expect(engine.evaluate(honest)).toMatchObject({ ok: true, verdict: { decision: 'allow' } });
    }
  });

  test('thousands of faults in a row leave the engine as it was', async () => {
    const engine = await engineOf(
      `decision := ${allow} if input.request.action == "read"\ndecision := 1 if input.agent.risk_tier == "high"`,
    );
    const conflict = aPolicyInput({}, { risk_tier: 'high' });
    for (let i = 0; i < 3_000; i++) {
      expect(engine.evaluate(conflict).ok).toBe(false);
    }
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
  });

  test('a deeply nested input is a fault at worst', async () => {
    const engine = await engineOf(`decision := ${allow} if input.request`);
    const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
    for (const levels of [1_000, 20_000, 200_000, 1_000_000]) {
      const outcome = engine.evaluateRaw(`{"request": ${deep(levels)}}`);
      expect(typeof outcome.ok).toBe('boolean');
      expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
    }
  });

  test('an input beyond the memory is a fault', async () => {
    const engine = await engineOf(`decision := ${allow} if input.request`);
    const large = aPolicyInput({ parameters: { text: 'x'.repeat(20 * 1024 * 1024) } });
    expect(engine.evaluate(large)).toMatchObject({ ok: false, fault: 'out_of_memory' });
    expect(engine.evaluate(aPolicyInput())).toMatchObject({ ok: true });
  });
});

describe('a policy is refused at load', () => {
  test('without the entrypoint', async () => {
    const compiled = await compiler.compileRaw(
      [{ path: 'a.rego', rego: 'package a\np := 1' }],
      ['a/p'],
    );
    if (!compiled.ok) throw new Error('it compiles');
    await expect(loadPolicyEngine(compiled.wasm, {})).rejects.toThrow(/entrypoint/);
  });

  test('when it asks for a built-in that is not ours', async () => {
    const wasm = await decision(`decision := ${allow} if sprintf("%d", [1]) == "1"`);
    const module = await compilePolicyModule(wasm);
    const options = { builtins: {}, now: Date.now };
    expect(() => new PolicySandbox(module, '{}', options)).toThrow(/governance\.sprintf/);
  });

  test('when it is damaged', async () => {
    const wasm = await decision(`decision := ${allow}`);
    await expect(loadPolicyEngine(wasm.subarray(0, wasm.length - 10), {})).rejects.toThrow();
    await expect(loadPolicyEngine(new Uint8Array(), {})).rejects.toThrow();
  });

  test('when the data does not fit', async () => {
    const wasm = await decision(`decision := ${allow}`);
    const data = { list: Array.from({ length: 600_000 }, () => 1) };
    await expect(loadPolicyEngine(wasm, data)).rejects.toThrow();
  });
});

describe('properties', () => {
  test('any input gets an outcome and leaves the engine as it was', async () => {
    const engine = await loadPolicyEngine(
      await policies(
        'package a\nallow if input.request.action == "read"',
        'package b\ndeny contains sprintf("%v %d %s", [input.request.parameters, input.agent.risk_score, input.request.resource]) if input.agent.risk_score > 50',
      ),
      {},
    );
    const parameters = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    const request = fc.record({
      resource: fc.string({ unit: 'binary' }),
      action: fc.constantFrom('read', 'write'),
      parameters,
    });
    const agent = fc.record({ risk_score: fc.double() });
    fc.assert(
      fc.property(request, agent, (changes, changed) => {
        const input = aPolicyInput(changes as Partial<PolicyInput['request']>, changed);
        const outcome = engine.evaluate(input);
        if (outcome.ok) {
          const denied = changed.risk_score > 50 && Number.isFinite(changed.risk_score);
          const expected = denied ? 'deny' : changes.action === 'read' ? 'allow' : 'deny';
          expect(outcome.verdict.decision).toBe(expected);
        }
        expect(engine.evaluate(aPolicyInput())).toMatchObject({ verdict: { decision: 'allow' } });
      }),
      { numRuns: 200 },
    );
  });

  test('the check by hand says what the schema says', () => {
    const reason = fc.record(
      {
        policy_id: fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.constant(null)),
        policy: fc.string(),
        rule: fc.constantFrom('deny', 'escalate', 'allow', 'allow', 'permit'),
        message: fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.integer()),
        extra: fc.string(),
      },
      { requiredKeys: ['policy_id', 'policy', 'rule', 'message'] },
    );
    const verdict = fc.record(
      {
        decision: fc.constantFrom('allow', 'deny', 'escalate', 'permit'),
        reasons: fc.oneof(
          { weight: 9, arbitrary: fc.array(reason, { maxLength: 2 }) },
          fc.jsonValue(),
        ),
        extra: fc.string(),
      },
      { requiredKeys: ['decision', 'reasons'] },
    );
    fc.assert(
      fc.property(fc.oneof(verdict, fc.jsonValue()), (value) => {
        expect(isVerdict(value)).toBe(PolicyVerdict.safeParse(value).success);
      }),
      { numRuns: 2_000 },
    );
  });
});
