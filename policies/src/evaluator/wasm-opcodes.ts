/**
 * The instructions that a policy may contain, by the operands of their opcode. It is the
 * WebAssembly 1.0 set with sign extension and saturating truncation, which is all that OPA's
 * compiler writes. Anything else is refused: an instruction of unknown length cannot be skipped,
 * and one whose work is proportional to an operand (memory.fill, memory.copy, table.grow) would
 * cost far more than the one unit it is counted as.
 */
export const Immediates = {
  refused: 0,
  none: 1,
  /** One index or block type as LEB128 of 32 bits at most. */
  leb32: 2,
  leb64: 3,
  /** Two of them: alignment and offset, type and table. */
  twoLeb32: 4,
  f32: 5,
  f64: 6,
  global: 7,
  branchTable: 8,
  prefixed: 9,
} as const;

function buildTable(): Uint8Array {
  const table = new Uint8Array(256);
  const set = (kind: number, ...opcodes: number[]) => {
    for (const opcode of opcodes) table[opcode] = kind;
  };
  const range = (kind: number, first: number, last: number) => {
    for (let opcode = first; opcode <= last; opcode++) table[opcode] = kind;
  };
  set(Immediates.none, 0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b); // unreachable nop else end …
  set(Immediates.leb32, 0x02, 0x03, 0x04); // block loop if
  set(Immediates.leb32, 0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22); // br br_if call local.get/set/tee
  set(Immediates.branchTable, 0x0e);
  set(Immediates.twoLeb32, 0x11); // call_indirect
  set(Immediates.global, 0x23, 0x24); // global.get/set
  range(Immediates.twoLeb32, 0x28, 0x3e); // loads and stores
  set(Immediates.leb32, 0x3f, 0x40, 0x41); // memory.size memory.grow i32.const
  set(Immediates.leb64, 0x42);
  set(Immediates.f32, 0x43);
  set(Immediates.f64, 0x44);
  range(Immediates.none, 0x45, 0xc4); // comparisons, arithmetic, conversions, sign extension
  set(Immediates.prefixed, 0xfc);
  return table;
}

/** Indexed by opcode. */
export const IMMEDIATES: Uint8Array = buildTable();

export const Opcode = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i32LessSigned: 0x48,
  i32Sub: 0x6b,
} as const;

/** 0xFC 0 to 7 are the saturating truncations; the rest are bulk operations. */
export const LAST_PLAIN_PREFIXED = 7;
