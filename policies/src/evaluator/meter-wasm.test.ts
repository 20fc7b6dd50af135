import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { aPolicyInput, testCompiler, verdictRego } from '../testing/test-policies.ts';
import {
  compileProgram,
  type ModuleParts,
  type Program,
  wasmModule,
} from '../testing/test-wasm.ts';
import { OWN_BUILTIN_FUNCTIONS } from './builtins/index.ts';
import { FUEL_EXPORT, MAX_MEMORY_PAGES, meterWasm } from './meter-wasm.ts';
import { compilePolicyModule, PolicySandbox } from './policy-sandbox.ts';
import { type WasmGlobal, wasmApi } from './wasm-api.ts';
import { WasmFormatError } from './wasm-reader.ts';

const { decision } = testCompiler();
const END = 0x0b;

function instantiate(bytes: Uint8Array<ArrayBuffer>) {
  const memory = new wasmApi.Memory({ initial: 5, maximum: MAX_MEMORY_PAGES });
  const imports = { env: { memory, opa_println: () => {} } };
  const { exports } = new wasmApi.Instance(new wasmApi.Module(bytes), imports);
  return { main: exports.main as () => void, fuel: exports[FUEL_EXPORT] as WasmGlobal };
}

const metered = (parts: ModuleParts) => instantiate(meterWasm(wasmModule(parts)).bytes);

describe('fuel', () => {
  test('ends a loop without an end', () => {
    const { main, fuel } = metered({ functions: [[0x03, 0x40, 0x0c, 0x00, END, END]] });
    fuel.value = 1_000_000;
    expect(main).toThrow(wasmApi.RuntimeError);
    expect(fuel.value).toBeLessThan(0);
  });

  test('ends a recursion that branches without an end', () => {
    // main calls itself twice: deep enough to run for ever, never deep enough for the stack.
    const depth = 40;
    const functions = Array.from({ length: depth }, (_, i) =>
      i === depth - 1 ? [END] : [0x10, i + 2, 0x10, i + 2, END],
    );
    const { main, fuel } = metered({ functions });
    fuel.value = 1_000_000;
    expect(main).toThrow(wasmApi.RuntimeError);
    expect(fuel.value).toBeLessThan(0);
  });

  test('lets a function end that has enough', () => {
    const { main, fuel } = metered({ functions: [[...Array(50).fill(0x01), END]] });
    fuel.value = 1_000;
    main();
    expect(fuel.value).toBeGreaterThan(0);
    expect(fuel.value).toBeLessThanOrEqual(1_000 - 50);
  });

  test('comes with a memory that cannot grow beyond its maximum', () => {
    const module = new wasmApi.Module(meterWasm(wasmModule({ functions: [[END]] })).bytes);
    const withMaximum = (maximum: number) => () => {
      const memory = new wasmApi.Memory({ initial: 5, maximum });
      return new wasmApi.Instance(module, { env: { memory, opa_println: () => {} } });
    };
    expect(withMaximum(MAX_MEMORY_PAGES)).not.toThrow();
    expect(withMaximum(MAX_MEMORY_PAGES + 1)).toThrow(/maximum/);
  });

  test('taken is never less than the instructions executed', () => {
    const program = fc.letrec<{ part: Program }>((tie) => {
      const parts = fc.array(tie('part'), { maxLength: 3 });
      return {
        part: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.record({ kind: fc.constant('nops' as const), count: fc.integer({ min: 0, max: 40 }) }),
          fc.record({
            kind: fc.constant('loop' as const),
            times: fc.integer({ min: 1, max: 6 }),
            body: parts,
          }),
          fc.record({
            kind: fc.constant('block' as const),
            leave: fc.boolean(),
            before: parts,
            after: parts,
          }),
          fc.record({
            kind: fc.constant('if' as const),
            condition: fc.boolean(),
            taken: parts,
            other: parts,
          }),
          fc.record({ kind: fc.constant('call' as const), body: parts }),
        ),
      };
    }).part;
    fc.assert(
      fc.property(fc.array(program, { minLength: 1, maxLength: 4 }), (parts) => {
        const { functions, executed } = compileProgram(parts);
        fc.pre(functions.length < 100 && executed < 10_000_000);
        const { main, fuel } = metered({ functions, locals: 64 });
        fuel.value = 2_000_000_000;
        main();
        expect(2_000_000_000 - fuel.value).toBeGreaterThanOrEqual(executed);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a module is refused', () => {
  const refuses = (bytes: Uint8Array) => expect(() => meterWasm(bytes)).toThrow(WasmFormatError);
  const nothing = [[END]];

  test.each<[string, ModuleParts]>([
    ['with an unknown instruction', { functions: [[0x06, 0x40, END, END]] }],
    ['with a tail call', { functions: [[0x12, 0x01, END]] }],
    ['with memory.fill', { functions: [[0xfc, 0x0b, 0x00, END]] }],
    ['with a SIMD instruction', { functions: [[0xfd, 0x0c, END]] }],
    ['that names the global after its last', { functions: [[0x23, 0x00, 0x1a, END]] }],
    ['that ends in the middle of a function', { functions: [[0x02, 0x40, END]] }],
    ['with code after the end of a function', { functions: [[END, 0x01]] }],
    ['with too many locals', { functions: nothing, locals: 60_000 }],
    ['with a memory of its own', { functions: nothing, extraSections: [[5, [1, 0, 1]]] }],
    ['with an unknown section', { functions: nothing, extraSections: [[13, [0]]] }],
    ['with a section twice', { functions: nothing, extraSections: [[1, [0]]] }],
    [
      'with a huge table',
      { functions: nothing, extraSections: [[4, [1, 0x70, 0, 0xff, 0xff, 0x7f]]] },
    ],
    [
      'that imports another function',
      { functions: nothing, extraImports: [['env', 'exit', [0, 0]]] },
    ],
    [
      'that imports from elsewhere',
      { functions: nothing, extraImports: [['wasi', 'memory', [0, 0]]] },
    ],
    ['that imports a global', { functions: nothing, extraImports: [['env', 'g', [3, 0x7f, 0]]] }],
    [
      'that imports a second memory',
      { functions: nothing, extraImports: [['env', 'm', [2, 0, 1]]] },
    ],
  ])('%s', (_what, parts) => refuses(wasmModule(parts)));

  test('that is none', () => {
    refuses(new Uint8Array());
    refuses(new TextEncoder().encode('not wasm at all'));
  });

  test('that is metered already', () => {
    refuses(meterWasm(wasmModule({ functions: nothing })).bytes);
  });
});

describe("OPA's own output", () => {
  let wasm: Uint8Array;
  beforeAll(async () => {
    wasm = await decision(`decision := ${verdictRego('allow')} if {
      count([1 | some word in split(input.request.resource, "/"); regex.match("^[a-z]+", word)]) > 0
      sprintf("%v", [{"a": input.agent.risk_score * 2}]) != ""
    }`);
  });

  /** What a damaged module did; the point is that every one of them comes back. */
  async function tryModule(bytes: Uint8Array): Promise<'refused' | 'fault' | 'decided'> {
    const input = JSON.stringify(aPolicyInput());
    try {
      const sandbox = new PolicySandbox(await compilePolicyModule(bytes), '{}', {
        builtins: OWN_BUILTIN_FUNCTIONS,
        now: () => 0,
      });
      return sandbox.run(input, 'governance/decision').ok ? 'decided' : 'fault';
    } catch {
      return 'refused';
    }
  }

  test('decides when it is whole', async () => {
    expect(await tryModule(wasm)).toBe('decided');
  });

  test('with some bytes changed, cut or doubled is refused, faults or decides, and comes back', async () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      kind: fc.constantFrom('set', 'cut', 'double'),
      byte: fc.integer({ min: 0, max: 255 }),
    });
    const outcomes = { refused: 0, fault: 0, decided: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let bytes = Buffer.from(wasm);
        for (const { at, kind, byte } of edits) {
          const place = 8 + Math.floor(at * (bytes.length - 8));
          if (kind === 'set') bytes[place] = byte;
          else if (kind === 'cut')
            bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)]);
          else
            bytes = Buffer.concat([
              bytes.subarray(0, place),
              bytes.subarray(Math.max(place - 3, 8)),
            ]);
        }
        // Each comes to its end, whatever it is: the fuel sees to that.
        outcomes[await tryModule(bytes)]++;
      }),
      { numRuns: 150 },
    );
    // Both kinds happened, so that the property says something.
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(outcomes.decided + outcomes.fault).toBeGreaterThan(0);
  }, 120_000);
});
