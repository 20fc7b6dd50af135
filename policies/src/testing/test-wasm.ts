/**
 * Hand-made WebAssembly modules shaped like a policy's, for the metering tests: programs built from
 * blocks with a known number of executed instructions.
 */
import { WasmWriter } from '../evaluator/wasm-reader.ts';

export type Program =
  | { kind: 'nops'; count: number }
  | { kind: 'loop'; times: number; body: Program[] }
  | { kind: 'block'; leave: boolean; before: Program[]; after: Program[] }
  | { kind: 'if'; condition: boolean; taken: Program[]; other: Program[] }
  | { kind: 'call'; body: Program[] };

interface Compiled {
  bytes: number[];
  /** The number of instructions that executing it runs. */
  executed: number;
}

const BLOCK = [0x02, 0x40];
const LOOP = [0x03, 0x40];
const IF = [0x04, 0x40];
const ELSE = 0x05;
const END = 0x0b;
const BR_IF_0 = [0x0d, 0x00];
const DROP = 0x1a;

/** The bodies of a program's functions, the entry first, and its instruction count. */
export function compileProgram(program: Program[]): { functions: number[][]; executed: number } {
  const functions: number[][] = [[]];
  /** Function 0 of the module is an import. */
  const FIRST = 1;
  const constant = (value: number) => {
    const out = new WasmWriter(8);
    out.byte(0x41);
    out.i32(value);
    return [...out.view()];
  };
  const sequence = (parts: Program[], depth: number): Compiled => {
    const compiled = parts.map((part) => one(part, depth));
    return {
      bytes: compiled.flatMap(({ bytes }) => bytes),
      executed: compiled.reduce((sum, { executed }) => sum + executed, 0),
    };
  };
  const one = (part: Program, depth: number): Compiled => {
    switch (part.kind) {
      case 'nops':
        return { bytes: Array(part.count).fill(0x01), executed: part.count };
      case 'loop': {
        const body = sequence(part.body, depth + 1);
        const set = [...constant(part.times), 0x21, depth];
        // local -= 1; continue while it is not 0
        const step = [0x20, depth, ...constant(1), 0x6b, 0x22, depth, ...BR_IF_0];
        return {
          bytes: [...set, ...LOOP, ...body.bytes, ...step, END],
          executed: 2 + 1 + part.times * (body.executed + 5) + 1,
        };
      }
      case 'block': {
        const before = sequence(part.before, depth);
        const after = sequence(part.after, depth);
        const leave = [...constant(part.leave ? 1 : 0), ...BR_IF_0];
        return {
          bytes: [...BLOCK, ...before.bytes, ...leave, ...after.bytes, END],
          executed: 1 + before.executed + 2 + (part.leave ? 0 : after.executed + 1),
        };
      }
      case 'if': {
        const taken = sequence(part.taken, depth);
        const other = sequence(part.other, depth);
        return {
          bytes: [
            ...constant(part.condition ? 1 : 0),
            ...IF,
            ...taken.bytes,
            ELSE,
            ...other.bytes,
            END,
          ],
          executed: 2 + (part.condition ? taken : other).executed + 1,
        };
      }
      case 'call': {
        const index = functions.push([]) - 1;
        const body = sequence(part.body, 0);
        functions[index] = [...body.bytes, END];
        return { bytes: [0x10, FIRST + index, ...constant(0), DROP], executed: 3 + body.executed };
      }
    }
  };
  const main = sequence(program, 0);
  functions[0] = [...main.bytes, END];
  return { functions, executed: main.executed };
}

export interface ModuleParts {
  functions: number[][];
  /** Locals of each function, i32. */
  locals?: number;
  memoryPages?: number;
  extraImports?: [module: string, name: string, kind: number[]][];
  extraSections?: [id: number, body: number[]][];
}

/** A module like a policy's: imports a host function and a memory, exports its first function. */
export function wasmModule(parts: ModuleParts): Uint8Array<ArrayBuffer> {
  const out = new WasmWriter(256);
  out.copy(Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00));
  const section = (id: number, body: number[]) => {
    out.byte(id);
    out.u32(body.length);
    out.copy(Uint8Array.from(body));
  };
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const imports = [
    [...name('env'), ...name('opa_println'), 0x00, 0x00],
    [...name('env'), ...name('memory'), 0x02, 0x00, parts.memoryPages ?? 2],
    ...(parts.extraImports ?? []).map(([module, field, kind]) => [
      ...name(module),
      ...name(field),
      ...kind,
    ]),
  ];
  const sections: [number, number[]][] = [
    [1, [2, 0x60, 1, 0x7f, 0, 0x60, 0, 0]],
    [2, [imports.length, ...imports.flat()]],
    [3, [parts.functions.length, ...parts.functions.map(() => 1)]],
    [7, [1, ...name('main'), 0x00, 1]],
    [10, codeSection(parts.functions, parts.locals ?? 8)],
    ...(parts.extraSections ?? []),
  ];
  for (const [id, body] of sections.sort(([a], [b]) => a - b)) section(id, body);
  return out.view().slice();
}

function codeSection(functions: number[][], locals: number): number[] {
  const out = new WasmWriter(256);
  out.u32(functions.length);
  for (const code of functions) {
    const body = new WasmWriter(code.length + 16);
    body.byte(1);
    body.u32(locals);
    body.byte(0x7f);
    body.copy(Uint8Array.from(code));
    out.u32(body.length);
    out.copy(body.view());
  }
  return [...out.view()];
}
