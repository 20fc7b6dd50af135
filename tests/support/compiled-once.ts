/**
 * Shares compiled policies between test files: compiling takes two to five seconds of CPU, mostly
 * the compiler's start. The first file that needs a set compiles it for the whole run.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type {
  CompiledPolicySet,
  CompileResult,
  PolicySource,
  RegoCompiler,
} from '@governance/policies/contract';
import { isUuid } from '@governance/shared/ids';
import { inject } from 'vitest';

/**
 * Compiles policies, or reads what another file of this run compiled.
 *
 * @throws Error with the diagnostics if they do not compile
 */
export async function compileOnce(policies: PolicySource[]): Promise<CompiledPolicySet> {
  const compiler = createRegoCompiler();
  try {
    const result = await compileOnceWith(compiler, policies);
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    return result;
  } finally {
    await compiler.close();
  }
}

async function compileOnceWith(
  compiler: RegoCompiler,
  policies: PolicySource[],
  turn?: string,
): Promise<CompileResult> {
  const path = join(inject('compiledPolicies'), `${compiler.sourcesDigest(policies)}.json`);
  if (existsSync(path)) return read(path);
  const result = await compiler.compile(policies, turn);
  if (!result.ok) return result;
  const { wasm, entrypoints, builtins, modules, digest } = result;
  const text = Buffer.from(wasm).toString('base64');
  const stored = { wasm: text, entrypoints, builtins, modules, digest };
  // Written atomically: another file may be reading.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify(stored));
  renameSync(written, path);
  return read(path);
}

function read(path: string): CompileResult {
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  return { ok: true, ...stored, wasm: new Uint8Array(Buffer.from(stored.wasm, 'base64')) };
}

/**
 * The real compiler, except that each set of policies is compiled once per run, whatever ids a
 * tenant gave them. The result is the compiler's own, byte by byte (compiled-once.test.ts).
 */
export function createTestCompiler(): RegoCompiler {
  const real = createRegoCompiler();
  return {
    ...real,
    async compile(policies, turn) {
      if (!mayBeRenamed(policies)) return real.compile(policies, turn);
      const sorted = [...policies].sort((a, b) => (a.id < b.id ? -1 : 1));
      const standIns = sorted.map((policy, i) => ({ ...policy, id: standIn(i) }));
      const result = await compileOnceWith(real, standIns, turn);
      const ids = sorted.map(({ id }, i) => [standIn(i), id] as const);
      if (!result.ok) return JSON.parse(renamedText(JSON.stringify(result), ids));
      return { ok: true, ...renamed(result, ids), digest: real.sourcesDigest(policies) };
    },
  };
}

/** Whether ids of the same length can replace these, and occur only as ids. */
function mayBeRenamed(policies: PolicySource[]): boolean {
  const ids = new Set(policies.map(({ id }) => id));
  const texts = policies.flatMap(({ name, rego }) => [name, rego]);
  return (
    ids.size === policies.length &&
    [...ids].every((id) => isUuid(id) && !id.startsWith(STAND_IN)) &&
    !texts.some((text) => text.includes(STAND_IN) || [...ids].some((id) => text.includes(id)))
  );
}

const STAND_IN = '0190aaaa-0000-7000-8000-';

/** Replaces an id by another of the same length, in the same order. */
const standIn = (index: number) => `${STAND_IN}${String(index).padStart(12, '0')}`;

type Renames = readonly (readonly [string, string])[];

const renamedText = (text: string, ids: Renames) =>
  ids.reduce((done, [from, to]) => done.replaceAll(from, to), text);

function renamed({ wasm, modules, ...rest }: CompiledPolicySet, ids: Renames): CompiledPolicySet {
  const bytes = Buffer.from(wasm);
  for (const [from, to] of ids) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at)) bytes.write(to, at);
  }
  return {
    ...rest,
    wasm: new Uint8Array(bytes),
    modules: modules.map(({ path, rego, ...one }) => ({
      ...one,
      path: renamedText(path, ids),
      rego: renamedText(rego, ids),
    })),
  };
}
