/**
 * The messages to the worker and into the compiler's WebAssembly: the TypeScript side of
 * policies/compiler/rego/wire.go.
 */
import { z } from 'zod';
import type { PolicyOutcome, PolicySource } from '../contract.ts';
import { PolicyVerdict } from '../contract.ts';

/** One module at a path of its own; without a version it is read as v1, else as v0. */
export interface RawModule {
  path: string;
  rego: string;
  rego_version?: 0 | 1;
}

export interface CompilerRequest {
  op: 'check' | 'compile' | 'compile_raw' | 'test' | 'explain';
  policies?: PolicySource[];
  tests?: PolicySource[];
  library?: RawModule[];
  renames?: Readonly<Record<string, string>>;
  input?: unknown;
  data?: unknown;
  modules?: RawModule[];
  entrypoints?: string[];
  limits?: CompilerLimits;
}

/** Judges one input by what is compiled first. */
export interface JudgeRequest {
  compile: CompilerRequest & { op: 'compile' };
  /** The WebAssembly, if it is at hand when the request's turn has come. */
  find(): Uint8Array | undefined;
  /** Takes the WebAssembly that was compiled for it, before the next request's turn. */
  keep(wasm: Uint8Array): void;
  /** JSON. */
  input: string;
  data: unknown;
}

/** To the worker: a request to the compiler as JSON, and what to do with the WebAssembly it makes. */
export interface WorkerRequest {
  compiler: string;
  judge?: Omit<JudgeRequest, 'compile' | 'find' | 'keep'> & { wasm?: Uint8Array | undefined };
}

/** Bounds of one request inside the WebAssembly; omitted ones have the compiler's defaults. */
export interface CompilerLimits {
  /** Bytes of one source, 128 KiB. */
  source_bytes?: number;
  /** Rules of one policy, 2,000. */
  rules?: number;
  /** Nested brackets, 100. */
  nesting?: number;
  /** Lines of an explanation's trace, 2,000. */
  trace_lines?: number;
}

const Version = z.union([z.literal(0), z.literal(1)]);
const list = <T extends z.ZodType>(of: T) =>
  z
    .array(of)
    .nullish()
    .transform((some) => some ?? []);

/** Go serialises an empty slice as null and omits what an operation does not return. */
export const CompilerResponse = z.object({
  error: z.string().optional(),
  diagnostics: list(
    z.object({
      code: z.string(),
      message: z.string(),
      row: z.int().min(1),
      col: z.int().min(1),
      policy_id: z.string().optional(),
    }),
  ),
  formatted: z.string().nullish().default(null),
  package: z.string().nullish().default(null),
  rego_version: Version.nullish().default(null),
  builtins: list(z.string()),
  builtin_uses: list(z.object({ name: z.string(), row: z.int(), col: z.int() })),
  wasm: z.base64().optional(),
  entrypoints: list(z.string()),
  modules: list(z.object({ path: z.string(), rego: z.string(), rego_version: Version })),
  tests: list(
    z.object({
      name: z.string(),
      policy_id: z.string(),
      outcome: z.enum(['pass', 'fail', 'error', 'skip']),
      message: z.string().nullable(),
      row: z.int(),
    }),
  ),
  verdict: PolicyVerdict.nullish().default(null),
  trace: list(z.string()),
  steps: list(
    z.object({
      policy_id: z.string(),
      rule: z.string(),
      row: z.int(),
      holds: z.boolean(),
      condition: z.string().optional(),
      condition_row: z.int().optional(),
    }),
  ),
});

/** A response as the worker posts it: checked, the WebAssembly as bytes. */
export type CompilerAnswer = Omit<z.infer<typeof CompilerResponse>, 'error' | 'wasm'> & {
  wasm: Uint8Array | null;
};

/** Why an instance of the compiler ended without an answer. */
export type CrashCause = 'stack' | 'memory' | 'other';

export type WorkerMessage =
  | { kind: 'ready' }
  | { kind: 'answer'; answer: CompilerAnswer }
  | { kind: 'judged'; outcome: PolicyOutcome; compiled: Uint8Array | null }
  | { kind: 'not_loaded'; message: string }
  | { kind: 'crash'; cause: CrashCause; message: string };
