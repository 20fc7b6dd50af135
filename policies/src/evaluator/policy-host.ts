/**
 * What a policy's WebAssembly may call: abort, print (dropped) and our own built-ins. Arguments
 * are read as Rego prints them (`opa_value_dump`), results go back as JSON. A built-in that the
 * WebAssembly asks for and that is not ours makes the policy unusable before it runs.
 */
import {
  type Builtin,
  type BuiltinCall,
  BuiltinLimitError,
  type BuiltinResult,
  ByteString,
  encodeResult,
  OutOfFuelError,
} from './builtins/builtin.ts';
import { parseRegoValue, type RegoValue } from './rego-value.ts';
import type { WasmGlobal, WasmImports, WasmMemory } from './wasm-api.ts';

/** The cost of a call from WebAssembly into JavaScript and back. */
const CALL_FUEL = 5_000;
/** The cost of decoding an argument or encoding a result, per byte. */
const FUEL_PER_BYTE = 30;

/** Where OPA's `opa_string_t` has its length and the address of its bytes. */
const STRING_LENGTH_OFFSET = 4;
const STRING_ADDRESS_OFFSET = 8;

/** `opa_abort`: a rule conflict, an exhausted heap, a broken value. */
export class PolicyAbort extends Error {
  override readonly name = 'PolicyAbort';
}

/** A built-in of ours that failed, for any reason but fuel. */
export class BuiltinFailure extends Error {
  override readonly name = 'BuiltinFailure';
}

/** A result longer than the limit. */
export class TextTooLongError extends Error {
  override readonly name = 'TextTooLongError';
}

/** The exports of the instance that the host functions use; set once it exists. */
export interface HostedExports {
  opa_malloc(size: number): number;
  opa_free(address: number): void;
  opa_json_parse(address: number, length: number): number;
  opa_value_dump(address: number): number;
}

export interface PolicyHost extends BuiltinCall {
  readonly imports: WasmImports;
  /** Connects the host functions with the instance that was made from `imports`. */
  attach(exports: HostedExports, fuel: WasmGlobal, names: readonly string[]): void;
  /** Starts a new decision at this time, with this much fuel for all its built-ins. */
  begin(nowMs: number, fuel: number): void;
  /** Writes text as UTF-8 of this many bytes into the policy's heap; returns where. */
  write(text: string, bytes: number): { address: number; length: number };
  /** Reads the text at an address up to its NUL; throws when it is longer than `maxBytes`. */
  read(address: number, maxBytes?: number): string;
}

/** Takes the memory to give the policy and the built-ins by name; throws nothing. */
export function createPolicyHost(
  memory: WasmMemory,
  builtins: Readonly<Record<string, Builtin>>,
): PolicyHost {
  return new Host(memory, builtins);
}

class Host implements PolicyHost {
  readonly imports: WasmImports;
  readonly #memory: WasmMemory;
  readonly #builtins: Readonly<Record<string, Builtin>>;
  #byId: { name: string; builtin: Builtin }[] = [];
  #exports: HostedExports | undefined;
  #fuel: WasmGlobal | undefined;
  #bytes: Buffer;
  #nowMs = 0;
  #hostFuel = 0;
  #used = new Set<string>();

  constructor(memory: WasmMemory, builtins: Readonly<Record<string, Builtin>>) {
    this.#memory = memory;
    this.#builtins = builtins;
    this.#bytes = Buffer.from(memory.buffer);
    const call = (id: number, _context: number, ...addresses: number[]) =>
      this.#call(id, addresses);
    this.imports = {
      env: {
        memory,
        opa_abort: (address: number): never => {
          throw new PolicyAbort(this.read(address).slice(0, 500));
        },
        opa_println: () => {},
        opa_builtin0: call,
        opa_builtin1: call,
        opa_builtin2: call,
        opa_builtin3: call,
        opa_builtin4: call,
      },
    };
  }

  attach(exports: HostedExports, fuel: WasmGlobal, names: readonly string[]): void {
    this.#exports = exports;
    this.#fuel = fuel;
    this.#byId = names.map((name) => {
      const builtin = Object.hasOwn(this.#builtins, name) ? this.#builtins[name] : undefined;
      if (!builtin) throw new BuiltinFailure(`the policy asks for an unknown built-in: ${name}`);
      return { name, builtin };
    });
  }

  begin(nowMs: number, fuel: number): void {
    this.#nowMs = nowMs;
    this.#hostFuel = fuel;
    this.#used.clear();
  }

  get nowNs(): bigint {
    return BigInt(Math.trunc(this.#nowMs)) * 1_000_000n;
  }

  charge(units: number): void {
    const fuel = this.#fuel as WasmGlobal;
    const spent = Math.ceil(units);
    const left = fuel.value - spent;
    this.#hostFuel -= spent;
    const enough = left >= 0 && this.#hostFuel >= 0;
    fuel.value = enough ? left : -1;
    if (!enough) throw new OutOfFuelError('a built-in used up the fuel');
  }

  firstUse(key: string): boolean {
    if (this.#used.has(key)) return false;
    this.#used.add(key);
    return true;
  }

  /** The policy's memory now; growing it replaces the buffer. */
  #view(): Buffer {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = Buffer.from(this.#memory.buffer);
    return this.#bytes;
  }

  read(address: number, maxBytes = Number.POSITIVE_INFINITY): string {
    const view = this.#view();
    const end = view.indexOf(0, address);
    if (end < 0) throw new PolicyAbort('a text without an end');
    if (end - address > maxBytes) throw new TextTooLongError(`it has ${end - address} bytes`);
    return view.toString('utf8', address, end);
  }

  write(text: string, bytes: number): { address: number; length: number } {
    const address = (this.#exports as HostedExports).opa_malloc(bytes) >>> 0;
    this.#view().write(text, address, bytes, 'utf8');
    return { address, length: bytes };
  }

  #call(id: number, addresses: readonly number[]): number {
    const entry = this.#byId[id];
    const exports = this.#exports;
    if (!entry || !exports) throw new BuiltinFailure(`an unknown built-in: ${id}`);
    this.charge(CALL_FUEL);
    const args = addresses.map((address) => this.#argument(exports, address));
    const result = this.#run(entry, args);
    if (result === undefined) return 0;
    if (result instanceof ByteString) return this.#byteString(exports, result.bytes);
    return this.#parse(exports, encodeResult(result));
  }

  #parse(exports: HostedExports, json: string): number {
    this.charge(json.length * FUEL_PER_BYTE);
    const { address, length } = this.write(json, Buffer.byteLength(json));
    const value = exports.opa_json_parse(address, length) >>> 0;
    exports.opa_free(address);
    if (value === 0) throw new BuiltinFailure('the result of a built-in is not JSON');
    return value;
  }

  /** OPA parses UTF-8 only, but its strings hold any bytes: they take the place of other text. */
  #byteString(exports: HostedExports, bytes: Buffer): number {
    const text = ' '.repeat(bytes.length);
    const value = this.#parse(exports, `"${text}"`);
    const view = this.#view();
    const length = view.readUInt32LE(value + STRING_LENGTH_OFFSET);
    const address = view.readUInt32LE(value + STRING_ADDRESS_OFFSET);
    const isText =
      length === bytes.length && view.toString('latin1', address, address + length) === text;
    if (!isText) throw new BuiltinFailure('a string is not where it was expected');
    view.set(bytes, address);
    return value;
  }

  #argument(exports: HostedExports, address: number): RegoValue {
    const dumped = exports.opa_value_dump(address) >>> 0;
    const view = this.#view();
    const end = view.indexOf(0, dumped);
    if (end < 0) throw new PolicyAbort('an argument without an end');
    this.charge((end - dumped) * FUEL_PER_BYTE);
    const text = view.toString('utf8', dumped, end);
    exports.opa_free(dumped);
    return parseRegoValue(text);
  }

  #run(entry: { name: string; builtin: Builtin }, args: RegoValue[]): BuiltinResult | undefined {
    try {
      return entry.builtin(args, this);
    } catch (error) {
      if (error instanceof OutOfFuelError) throw error;
      const reason = error instanceof BuiltinLimitError ? error.message : 'it failed';
      throw new BuiltinFailure(`${entry.name}: ${reason}`, { cause: error });
    }
  }
}
