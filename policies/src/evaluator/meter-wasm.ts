/**
 * Fuel for a policy: rewrites OPA's WebAssembly so that it always terminates.
 *
 * A synchronous WebAssembly call cannot be interrupted by a timer, so the bound is part of the
 * code. One mutable global holds the remaining fuel; each function entry and each loop header
 * subtracts the number of instructions of its region and traps with `unreachable` when none is
 * left. A region is the code of a function or of a loop without the loops inside it: execution can
 * repeat it only through that function's entry or that loop's header, so that the fuel taken is
 * never less than the instructions executed.
 *
 * The rewriting fails closed: it refuses an unknown opcode, section or import. The property tests
 * of meter-wasm.test.ts prove that a module damaged anywhere is either refused or still terminates.
 */
import { countParameters, meterCode } from './meter-code.ts';
import { WasmFormatError, WasmReader, WasmWriter } from './wasm-reader.ts';

/** The export that holds the fuel, an i32. */
export const FUEL_EXPORT = 'governance_fuel';

/** The most pages of 64 KiB that a policy's memory may have: 16 MiB. */
export const MAX_MEMORY_PAGES = 256;

const MAX_WASM_BYTES = 32 * 1024 * 1024;
const MAX_TABLE_ELEMENTS = 65_536;
/** The fuel of the start function, before the first evaluation sets a budget. */
const START_FUEL = 10_000_000;

const HOST_FUNCTIONS = new Set([
  'opa_abort',
  'opa_println',
  'opa_builtin0',
  'opa_builtin1',
  'opa_builtin2',
  'opa_builtin3',
  'opa_builtin4',
]);

const Section = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
} as const;

const I32 = 0x7f;
const FUNCREF = 0x70;

export interface MeteredWasm {
  bytes: Uint8Array<ArrayBuffer>;
  /** The pages that the module's data needs from the start. */
  memoryPages: number;
}

/**
 * Takes the bytes of a `policy.wasm` as OPA's compiler wrote it. Returns the metered module: the
 * same exports plus the global `FUEL_EXPORT`, and a memory import whose maximum is
 * `MAX_MEMORY_PAGES`. Custom sections (names) are left out. Throws `WasmFormatError` when the
 * module is damaged or contains anything that OPA's compiler does not emit; such a module must not
 * be run.
 */
export function meterWasm(wasm: Uint8Array): MeteredWasm {
  if (wasm.length > MAX_WASM_BYTES) throw new WasmFormatError('the module is too large');
  const reader = new WasmReader(wasm);
  for (const byte of [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]) {
    if (reader.byte() !== byte) throw new WasmFormatError('not a WebAssembly 1.0 module');
  }
  const sections = new Map<number, WasmReader>();
  while (!reader.done) {
    const id = reader.byte();
    const body = reader.region(reader.u32());
    if (id === Section.custom) continue;
    if (id === Section.memory) throw new WasmFormatError('a policy must import its memory');
    if (id > Section.dataCount) throw new WasmFormatError(`section ${id} is not allowed`);
    if (sections.has(id)) throw new WasmFormatError(`section ${id} occurs twice`);
    sections.set(id, body);
  }

  const out = new WasmWriter(wasm.length * 2);
  out.copy(wasm, 0, 8);
  const write = (id: number, body: Uint8Array) => {
    out.byte(id);
    out.u32(body.length);
    out.copy(body);
  };
  const copy = (id: number) => {
    const body = sections.get(id);
    if (body) write(id, body.bytes.subarray(body.position, body.end));
  };
  const required = (id: number): WasmReader => {
    const body = sections.get(id);
    if (!body) throw new WasmFormatError(`section ${id} is missing`);
    return body;
  };

  copy(Section.type);
  const imports = boundImports(required(Section.import));
  write(Section.import, imports.body);
  copy(Section.function);
  const table = sections.get(Section.table);
  if (table) checkTables(table.clone());
  copy(Section.table);
  const globals = addFuelGlobal(sections.get(Section.global));
  write(Section.global, globals.body);
  write(Section.export, addFuelExport(required(Section.export), globals.fuelIndex));
  copy(Section.start);
  copy(Section.element);
  copy(Section.dataCount);
  const parameters = countParameters(required(Section.type), required(Section.function));
  write(Section.code, meterCode(required(Section.code), parameters, globals.fuelIndex));
  copy(Section.data);
  return { bytes: out.view().slice(), memoryPages: imports.memoryPages };
}

/** Allows OPA's host functions and one memory, whose maximum it sets. */
function boundImports(section: WasmReader): { body: Uint8Array; memoryPages: number } {
  const out = new WasmWriter(section.end - section.position + 8);
  const count = section.u32();
  out.u32(count);
  let memories = 0;
  let memoryPages = 0;
  for (let i = 0; i < count; i++) {
    const start = section.position;
    const module = section.name();
    const field = section.name();
    const kind = section.byte();
    const allowed = module === 'env' && (kind === 0 ? HOST_FUNCTIONS.has(field) : kind === 2);
    if (!allowed) throw new WasmFormatError(`the import ${module}.${field} is not allowed`);
    if (kind === 0) {
      section.u32();
      out.copy(section.bytes, start, section.position);
      continue;
    }
    memories++;
    out.copy(section.bytes, start, section.position);
    const limits = readLimits(section);
    if (limits.min > MAX_MEMORY_PAGES) throw new WasmFormatError('the memory is too large');
    memoryPages = limits.min;
    out.byte(0x01);
    out.u32(limits.min);
    out.u32(Math.min(limits.max ?? MAX_MEMORY_PAGES, MAX_MEMORY_PAGES));
  }
  if (memories !== 1) throw new WasmFormatError('a policy must import one memory');
  section.finish();
  return { body: out.view(), memoryPages };
}

function readLimits(reader: WasmReader): { min: number; max: number | null } {
  const flags = reader.byte();
  if (flags > 1) throw new WasmFormatError('shared and 64-bit memories are not allowed');
  const min = reader.u32();
  return { min, max: flags === 1 ? reader.u32() : null };
}

function checkTables(section: WasmReader): void {
  const count = section.u32();
  if (count > 1) throw new WasmFormatError('more than one table');
  for (let i = 0; i < count; i++) {
    if (section.byte() !== FUNCREF) throw new WasmFormatError('a table of anything but functions');
    if (readLimits(section).min > MAX_TABLE_ELEMENTS) {
      throw new WasmFormatError('the table is too large');
    }
  }
  section.finish();
}

function addFuelGlobal(section: WasmReader | undefined): { body: Uint8Array; fuelIndex: number } {
  const out = new WasmWriter(64);
  const count = section ? section.u32() : 0;
  out.u32(count + 1);
  if (section) {
    const start = section.position;
    for (let i = 0; i < count; i++) {
      section.skip(2); // type, mutability
      skipConstant(section);
    }
    section.finish();
    out.copy(section.bytes, start, section.end);
  }
  out.byte(I32);
  out.byte(0x01);
  out.byte(0x41);
  out.i32(START_FUEL);
  out.byte(0x0b);
  return { body: out.view(), fuelIndex: count };
}

/** Skips an initial value of the form `<type>.const x end`. */
function skipConstant(reader: WasmReader): void {
  const opcode = reader.byte();
  if (opcode === 0x41) reader.skipLeb(5);
  else if (opcode === 0x42) reader.skipLeb(10);
  else if (opcode === 0x43) reader.skip(4);
  else if (opcode === 0x44) reader.skip(8);
  else throw new WasmFormatError('the initial value of a global is not a constant');
  if (reader.byte() !== 0x0b) throw new WasmFormatError('the initial value is not one constant');
}

function addFuelExport(section: WasmReader, fuelIndex: number): Uint8Array {
  const out = new WasmWriter(section.end - section.position + 32);
  const count = section.u32();
  out.u32(count + 1);
  const start = section.position;
  for (let i = 0; i < count; i++) {
    if (section.name() === FUEL_EXPORT) throw new WasmFormatError('the module is metered already');
    section.byte();
    section.u32();
  }
  section.finish();
  out.copy(section.bytes, start, section.end);
  const name = new TextEncoder().encode(FUEL_EXPORT);
  out.u32(name.length);
  out.copy(name);
  out.byte(0x03);
  out.u32(fuelIndex);
  return out.view();
}
