/**
 * Bounds the memory of a WebAssembly module that exports its own: the host cannot give a maximum
 * when it instantiates such a module, so the maximum is written into the memory section.
 */

const MEMORY_SECTION = 5;
const HEADER_BYTES = 8;

/**
 * Takes a WebAssembly binary with one 32-bit memory of its own and returns a copy whose memory
 * never grows past `maximumPages` (64 KiB each). An existing smaller maximum stays.
 *
 * @throws Error when the module has no such memory or already starts larger
 */
export function limitWasmMemory(wasm: Uint8Array, maximumPages: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER_BYTES; at < wasm.length; ) {
    const id = wasm[at];
    const [size, body] = readLeb(wasm, at + 1);
    if (id === MEMORY_SECTION) {
      const section = limitedSection(wasm, body, maximumPages);
      const result = new Uint8Array(wasm.length + section.length - (body + size - at));
      result.set(wasm.subarray(0, at));
      result.set(section, at);
      result.set(wasm.subarray(body + size), at + section.length);
      return result;
    }
    at = body + size;
  }
  throw new Error('the WebAssembly module has no memory of its own');
}

function limitedSection(wasm: Uint8Array, body: number, maximumPages: number): Uint8Array {
  const [count, flagsAt] = readLeb(wasm, body);
  const flags = wasm[flagsAt];
  if (count !== 1 || (flags !== 0 && flags !== 1)) {
    throw new Error('the WebAssembly module does not have exactly one plain memory');
  }
  const [initial, afterInitial] = readLeb(wasm, flagsAt + 1);
  const own = flags === 1 ? readLeb(wasm, afterInitial)[0] : Number.POSITIVE_INFINITY;
  const maximum = Math.min(own, maximumPages);
  if (initial > maximum) {
    throw new Error(`the WebAssembly module starts with ${initial} pages, more than ${maximum}`);
  }
  const content = [1, 1, ...writeLeb(initial), ...writeLeb(maximum)];
  return Uint8Array.from([MEMORY_SECTION, ...writeLeb(content.length), ...content]);
}

function readLeb(bytes: Uint8Array, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from, shift = 0; shift < 35; at++, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error('the WebAssembly module is cut off or malformed');
}

function writeLeb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return bytes;
}
