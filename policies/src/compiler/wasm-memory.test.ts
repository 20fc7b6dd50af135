import { expect, test } from 'vitest';
import { wasmApi } from '../evaluator/wasm-api.ts';
import { limitWasmMemory } from './wasm-memory.ts';

const leb = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 0x80, ...leb(Math.floor(value / 128))];
const section = (id: number, body: number[]) => [id, ...leb(body.length), ...body];
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** A module with a memory and a function `grow`. */
function moduleWith(memory: number[]): Uint8Array<ArrayBuffer> {
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  return Uint8Array.from([
    ...HEADER,
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
    ...section(3, [1, 0]),
    ...section(5, memory),
    ...section(7, [2, ...name('grow'), 0, 0, ...name('memory'), 2, 0]),
    ...section(10, [1, 6, 0, 0x20, 0, 0x40, 0, 0x0b]),
  ]);
}

test.each([
  ['without a maximum', [1, 0, 2], 300],
  ['with a larger maximum', [1, 1, 2, ...leb(60_000)], 300],
  ['with a smaller maximum', [1, 1, 2, ...leb(200)], 200],
])('a memory %s stops growing', (_, memory, pages) => {
  const limited = limitWasmMemory(moduleWith(memory), 300);
  const { exports } = new wasmApi.Instance(new wasmApi.Module(limited), {});
  const grow = exports.grow as (pages: number) => number;
  expect(grow(pages - 2)).toBe(2);
  expect(grow(1)).toBe(-1);
});

test.each([
  ['no memory', Uint8Array.from(HEADER)],
  ['two memories', moduleWith([2, 0, 1, 0, 1])],
  ['a shared memory', moduleWith([1, 3, 1, 2])],
  ['a memory that starts larger', moduleWith([1, 0, ...leb(301)])],
  ['a cut-off section', moduleWith([1, 0, 2]).subarray(0, 18)],
])('refuses %s', (_, wasm) => {
  expect(() => limitWasmMemory(wasm, 300)).toThrow(/WebAssembly module/);
});
