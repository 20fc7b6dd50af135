/** Inserts the fuel charges into the functions of a policy; see meter-wasm.ts. */
import { IMMEDIATES, Immediates, LAST_PLAIN_PREFIXED, Opcode } from './wasm-opcodes.ts';
import { WasmFormatError, type WasmReader, WasmWriter } from './wasm-reader.ts';

const FUNCTION_TYPE = 0x60;
const I32 = 0x7f;
const F64 = 0x7c;
const EMPTY_BLOCK = 0x40;
const MAX_LOCALS = 49_000;
/** Growing memory costs more than the counted instructions: the engine maps and clears pages. */
const MEMORY_GROW_COST = 5_000;

/** How many parameters each of the module's own functions has. */
export function countParameters(typeSection: WasmReader, functionSection: WasmReader): number[] {
  const types = typeSection.clone();
  const byType: number[] = [];
  const typeCount = types.u32();
  for (let i = 0; i < typeCount; i++) {
    if (types.byte() !== FUNCTION_TYPE) throw new WasmFormatError('a type that is not a function');
    const parameters = types.u32();
    types.skip(parameters);
    types.skip(types.u32());
    byType.push(parameters);
  }
  types.finish();
  const functions = functionSection.clone();
  const byFunction: number[] = [];
  const functionCount = functions.u32();
  for (let i = 0; i < functionCount; i++) {
    const parameters = byType[functions.u32()];
    if (parameters === undefined) throw new WasmFormatError('a function without a type');
    byFunction.push(parameters);
  }
  functions.finish();
  return byFunction;
}

/** Rewrites the code section; `parameters` has an entry for each of its functions. */
export function meterCode(
  section: WasmReader,
  parameters: number[],
  fuelIndex: number,
): Uint8Array {
  const out = new WasmWriter((section.end - section.position) * 2);
  const count = section.u32();
  if (count !== parameters.length) throw new WasmFormatError('function and code sections differ');
  out.u32(count);
  for (const parameterCount of parameters) {
    const body = meterFunction(section.region(section.u32()), parameterCount, fuelIndex);
    out.u32(body.length);
    out.copy(body);
  }
  section.finish();
  return out.view();
}

/** What is charged at `start`: the code of a function or a loop, or one costly instruction. */
interface Charge {
  start: number;
  cost: number;
}

function meterFunction(body: WasmReader, parameters: number, fuelIndex: number): Uint8Array {
  const groups = body.u32();
  const declarations = body.position;
  const locals = skipLocals(body, groups);
  const code = body.position;
  const charges = findCharges(body, locals, fuelIndex);
  const out = new WasmWriter(body.end - declarations + charges.length * 24);
  // One more local, an i32, for the remaining fuel: reading the global back costs more.
  out.u32(groups + 1);
  out.copy(body.bytes, declarations, code);
  out.u32(1);
  out.byte(I32);
  let copied = code;
  for (const charge of charges) {
    out.copy(body.bytes, copied, charge.start);
    writeCharge(out, charge.cost, fuelIndex, parameters + locals);
    copied = charge.start;
  }
  out.copy(body.bytes, copied, body.end);
  return out.view();
}

/** Returns the number of locals: clearing them is work charged at the entry. */
function skipLocals(body: WasmReader, groups: number): number {
  let total = 0;
  for (let i = 0; i < groups; i++) {
    total += body.u32();
    const type = body.byte();
    if (type < F64 || type > I32) throw new WasmFormatError('a local of an unknown type');
    if (total > MAX_LOCALS) throw new WasmFormatError('a function with too many locals');
  }
  return total;
}

/** The charges of one function, in the order of their places. */
function findCharges(body: WasmReader, locals: number, fuelIndex: number): Charge[] {
  const entry: Charge = { start: body.position, cost: locals };
  const charges = [entry];
  /**
   * What carries the charge inside each open block, the innermost last: its loop, or the function.
   */
  const open: Charge[] = [entry];
  for (let payer: Charge | undefined = entry; payer; payer = open.at(-1)) {
    const start = body.position;
    const opcode = body.byte();
    payer.cost++;
    skipImmediates(body, opcode, fuelIndex);
    if (opcode === Opcode.block || opcode === Opcode.if) {
      open.push(payer);
    } else if (opcode === Opcode.loop) {
      const loop: Charge = { start: body.position, cost: 0 };
      charges.push(loop);
      open.push(loop);
    } else if (opcode === Opcode.end) {
      open.pop();
    } else if (opcode === Opcode.memoryGrow) {
      // Charged in place: it is part of OPA's allocator, which rarely gets there.
      charges.push({ start, cost: MEMORY_GROW_COST });
    }
  }
  body.finish();
  return charges;
}

function skipImmediates(body: WasmReader, opcode: number, fuelIndex: number): void {
  switch (IMMEDIATES[opcode]) {
    case Immediates.none:
      break;
    case Immediates.leb32:
      body.skipLeb(5);
      break;
    case Immediates.leb64:
      body.skipLeb(10);
      break;
    case Immediates.twoLeb32:
      body.skipLeb(5);
      body.skipLeb(5);
      break;
    case Immediates.f32:
      body.skip(4);
      break;
    case Immediates.f64:
      body.skip(8);
      break;
    case Immediates.global:
      // An index one past the author's globals was invalid before and would name the fuel now.
      if (body.u32() >= fuelIndex) throw new WasmFormatError('a global that does not exist');
      break;
    case Immediates.branchTable: {
      const targets = body.u32();
      for (let i = 0; i <= targets; i++) body.skipLeb(5);
      break;
    }
    case Immediates.prefixed: {
      const operation = body.u32();
      if (operation > LAST_PLAIN_PREFIXED) {
        throw new WasmFormatError(`the instruction 0xfc ${operation} is not allowed`);
      }
      break;
    }
    default:
      throw new WasmFormatError(`the instruction 0x${opcode.toString(16)} is not allowed`);
  }
}

/** `fuel -= cost; if (fuel < 0) unreachable` */
function writeCharge(out: WasmWriter, cost: number, fuelIndex: number, local: number): void {
  out.byte(Opcode.globalGet);
  out.u32(fuelIndex);
  out.byte(Opcode.i32Const);
  out.i32(cost);
  out.byte(Opcode.i32Sub);
  out.byte(Opcode.localTee);
  out.u32(local);
  out.byte(Opcode.globalSet);
  out.u32(fuelIndex);
  out.byte(Opcode.localGet);
  out.u32(local);
  out.byte(Opcode.i32Const);
  out.i32(0);
  out.byte(Opcode.i32LessSigned);
  out.byte(Opcode.if);
  out.byte(EMPTY_BLOCK);
  out.byte(Opcode.unreachable);
  out.byte(Opcode.end);
}
