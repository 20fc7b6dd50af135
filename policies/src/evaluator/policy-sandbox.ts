/**
 * One metered policy.wasm and its current instance. Everything hostile that a policy can do becomes
 * a fault here: running too long (fuel), taking too much memory (the memory's maximum), deep
 * recursion, aborts, errors in built-ins. Nothing escapes as an exception, and after any fault the
 * instance is discarded, because OPA's heap and stack pointer are not usable after it.
 *
 * The npm package's `LoadedPolicy` holds the loaded data and the entrypoints. Its `evaluate` and
 * its import object are not used: they read an input that does not parse as undefined, turn the
 * sets that a built-in gets into arrays, and put five unbounded built-ins before ours.
 */
import * as opaWasm from '@open-policy-agent/opa-wasm';
import type { PolicyFault } from '../contract.ts';
import { type Builtin, OutOfFuelError } from './builtins/builtin.ts';
import { FUEL_EXPORT, MAX_MEMORY_PAGES, meterWasm } from './meter-wasm.ts';
import {
  BuiltinFailure,
  createPolicyHost,
  type HostedExports,
  PolicyAbort,
  type PolicyHost,
  TextTooLongError,
} from './policy-host.ts';
import {
  type WasmExports,
  type WasmGlobal,
  type WasmMemory,
  type WasmModule,
  wasmApi,
} from './wasm-api.ts';

/**
 * The fuel of a decision before its input's size is added, in WebAssembly instructions: 3 to 5 ms
 * of CPU, 15 ms when the code is cold. As many policies as a tenant may have, all with a reason,
 * take 60 million of it, the heaviest of OPA's own test cases 130 million.
 */
const BASE_FUEL = 150_000_000;
/** Added per byte of input: parsing alone takes 240 to 390. */
const FUEL_PER_INPUT_BYTE = 500;
/**
 * The part of it for our built-ins. Their unit takes ten times as long, and up to forty times while
 * V8 still interprets them: this share, not the rest, bounds the worst cold decision.
 */
const BASE_HOST_FUEL = 8_000_000;
const HOST_FUEL_PER_INPUT_BYTE = 50;
const MAX_FUEL = 0x7fff_ffff;
/** The initial memory that the npm package uses: 320 KiB. */
const INITIAL_PAGES = 5;
/** The longest result that is read; a verdict has a few hundred bytes. */
const MAX_RESULT_BYTES = 128 * 1024;

export type SandboxResult =
  | { ok: true; text: string }
  | { ok: false; fault: PolicyFault; message: string };

export type TextFormat = 'json' | 'rego';

export interface SandboxOptions {
  builtins: Readonly<Record<string, Builtin>>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The part of `LoadedPolicy` that is used. */
interface LoadedPolicy {
  dataAddr: number;
  dataHeapPtr: number;
  entrypoints: Record<string, number>;
  setData(data: ArrayBuffer): void;
}

// The package's types name an export that its module has below `default` only.
const { LoadedPolicy } = (
  opaWasm as unknown as {
    default: {
      LoadedPolicy: new (instance: object, memory: WasmMemory, abiMinor: number) => LoadedPolicy;
    };
  }
).default;

interface OpaExports extends HostedExports {
  opa_json_dump(address: number): number;
  opa_value_parse(address: number, length: number): number;
  opa_heap_ptr_set(address: number): void;
  opa_eval_ctx_new(): number;
  opa_eval_ctx_set_input(context: number, value: number): void;
  opa_eval_ctx_set_data(context: number, value: number): void;
  opa_eval_ctx_set_entrypoint(context: number, id: number): void;
  opa_eval_ctx_get_result(context: number): number;
  eval(context: number): number;
  builtins(): number;
}

interface LiveInstance {
  exports: OpaExports;
  loaded: LoadedPolicy;
  fuel: WasmGlobal;
}

const OPA_FUNCTIONS = [
  'opa_malloc',
  'opa_free',
  'opa_json_parse',
  'opa_json_dump',
  'opa_value_dump',
  'opa_value_parse',
  'opa_heap_ptr_set',
  'opa_eval_ctx_new',
  'opa_eval_ctx_set_input',
  'opa_eval_ctx_set_data',
  'opa_eval_ctx_set_entrypoint',
  'opa_eval_ctx_get_result',
  'eval',
  'builtins',
] as const;

/** Compiled policies are immutable; sandboxes over the same module may share it. */
export interface MeteredModule {
  module: WasmModule;
  initialPages: number;
}

/**
 * Meters and compiles a policy.wasm.
 * Throws `WasmFormatError` or the engine's own CompileError when it is not acceptable.
 */
export async function compilePolicyModule(wasm: Uint8Array): Promise<MeteredModule> {
  const { bytes, memoryPages } = meterWasm(wasm);
  const module = await wasmApi.compile(bytes);
  return { module, initialPages: Math.max(INITIAL_PAGES, memoryPages) };
}

export class PolicySandbox {
  readonly #compiled: MeteredModule;
  readonly #options: SandboxOptions;
  readonly #memory: WasmMemory;
  #data: ArrayBuffer;
  #live: LiveInstance | undefined;
  #host: PolicyHost;

  /**
   * Takes the module, the data document as JSON text and the built-ins.
   * Throws when the module cannot be instantiated, asks for an unknown built-in, or the data does
   * not fit: such a policy must not become active.
   */
  constructor(compiled: MeteredModule, dataJson: string, options: SandboxOptions) {
    this.#compiled = compiled;
    this.#options = options;
    this.#memory = new wasmApi.Memory({
      initial: compiled.initialPages,
      maximum: MAX_MEMORY_PAGES,
    });
    this.#data = encodeData(dataJson);
    this.#host = createPolicyHost(this.#memory, options.builtins);
    this.#live = this.#instantiate(this.#data);
  }

  /**
   * Replaces the data document, given as JSON text. When it throws, the previous data stays in
   * force.
   */
  setData(dataJson: string): void {
    const encoded = encodeData(dataJson);
    this.#live = undefined;
    this.#live = this.#instantiate(encoded);
    this.#data = encoded;
  }

  hasEntrypoint(name: string): boolean {
    return Object.hasOwn(this.#live?.loaded.entrypoints ?? {}, name);
  }

  /**
   * Asks one entrypoint, with the input as text or undefined.
   * Returns OPA's result set as text: in JSON `[]` when undefined, else `[{"result": …}]`. In the
   * format `rego`, which the conformance run uses, input and result may hold sets.
   * Never throws.
   */
  run(input: string | undefined, entrypoint: string, format: TextFormat = 'json'): SandboxResult {
    let live: LiveInstance | undefined;
    try {
      live = this.#live ??= this.#instantiate(this.#data);
      return { ok: true, text: this.#evaluate(live, input, entrypoint, format) };
    } catch (error) {
      this.#live = undefined;
      return { ok: false, ...describeFault(error, live?.fuel) };
    }
  }

  #evaluate(
    live: LiveInstance,
    input: string | undefined,
    entrypoint: string,
    format: TextFormat,
  ): string {
    const { exports, loaded, fuel } = live;
    const id = Object.hasOwn(loaded.entrypoints, entrypoint)
      ? loaded.entrypoints[entrypoint]
      : undefined;
    if (id === undefined) throw new PolicyAbort(`no entrypoint ${entrypoint}`);
    const inputBytes = input === undefined ? 0 : Buffer.byteLength(input);
    this.#host.begin(this.#options.now(), BASE_HOST_FUEL + inputBytes * HOST_FUEL_PER_INPUT_BYTE);
    fuel.value = budget(inputBytes);
    exports.opa_heap_ptr_set(loaded.dataHeapPtr);
    let inputAddress = 0;
    if (input !== undefined) {
      const { address, length } = this.#host.write(input, inputBytes);
      inputAddress =
        format === 'json'
          ? exports.opa_json_parse(address, length)
          : exports.opa_value_parse(address, length);
      // OPA would continue as if there were no input, and a deny rule that reads it would not
      // apply.
      if (inputAddress === 0) throw new PolicyAbort('the input is not JSON that OPA can read');
    }
    const context = exports.opa_eval_ctx_new();
    exports.opa_eval_ctx_set_input(context, inputAddress);
    exports.opa_eval_ctx_set_data(context, loaded.dataAddr);
    exports.opa_eval_ctx_set_entrypoint(context, id);
    if (exports.eval(context) !== 0) throw new PolicyAbort('eval failed');
    const value = exports.opa_eval_ctx_get_result(context);
    const result = format === 'json' ? exports.opa_json_dump(value) : exports.opa_value_dump(value);
    return this.#host.read(result >>> 0, MAX_RESULT_BYTES);
  }

  #instantiate(data: ArrayBuffer): LiveInstance {
    // The data segments are written again; everything else must start as zero.
    Buffer.from(this.#memory.buffer).fill(0);
    const instance = new wasmApi.Instance(this.#compiled.module, this.#host.imports);
    const exports = checkExports(instance.exports);
    const fuel = instance.exports[FUEL_EXPORT] as WasmGlobal;
    fuel.value = budget(data.byteLength);
    const names = JSON.parse(this.#host.read(exports.opa_json_dump(exports.builtins()) >>> 0));
    this.#host.attach(exports, fuel, namesById(names));
    const loaded = new LoadedPolicy(instance, this.#memory, 3);
    fuel.value = budget(data.byteLength);
    loaded.setData(data);
    return { exports, loaded, fuel };
  }
}

function budget(inputBytes: number): number {
  return Math.min(BASE_FUEL + inputBytes * FUEL_PER_INPUT_BYTE, MAX_FUEL);
}

function encodeData(json: string): ArrayBuffer {
  // A separate copy: an encoder may return part of a larger buffer.
  return new TextEncoder().encode(json).slice().buffer;
}

function checkExports(exports: WasmExports): OpaExports {
  for (const name of OPA_FUNCTIONS) {
    if (typeof exports[name] !== 'function') throw new PolicyAbort(`the export ${name} is missing`);
  }
  const version = (exports.opa_wasm_abi_version as WasmGlobal | undefined)?.value;
  const minor = (exports.opa_wasm_abi_minor_version as WasmGlobal | undefined)?.value ?? 0;
  if (version !== 1 || minor < 2) throw new PolicyAbort(`ABI ${version}.${minor} is not supported`);
  return exports as unknown as OpaExports;
}

function namesById(ids: Record<string, number>): string[] {
  const names: string[] = [];
  for (const [name, id] of Object.entries(ids)) names[id] = name;
  return names;
}

function describeFault(
  error: unknown,
  fuel: WasmGlobal | undefined,
): { fault: PolicyFault; message: string } {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof OutOfFuelError || (fuel !== undefined && fuel.value < 0)) {
    return { fault: 'out_of_fuel', message: 'the policy ran longer than a decision may' };
  }
  if (error instanceof TextTooLongError) return { fault: 'malformed_verdict', message: text };
  if (error instanceof BuiltinFailure) return { fault: 'builtin_error', message: text };
  if (text.startsWith('opa_malloc')) {
    return { fault: 'out_of_memory', message: 'the policy needed more than its memory' };
  }
  return { fault: 'trap', message: text };
}
