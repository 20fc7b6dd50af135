/**
 * What nearly every test file would compile anew: two seconds of CPU each, most of it the start of
 * the compiler. A set of policies is compiled once in a run, by the first file that needs it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { CompiledPolicySet, PolicySource, RegoCompiler } from '@governance/policies/contract';
import { inject } from 'vitest';

/**
 * Compiles policies, or reads what another file of this run compiled of the same.
 *
 * @throws Error with the diagnostics where they do not compile
 */
export async function compileOnce(policies: PolicySource[]): Promise<CompiledPolicySet> {
  const compiler = createRegoCompiler();
  try {
    return await compileOnceWith(compiler, policies);
  } finally {
    await compiler.close();
  }
}

async function compileOnceWith(
  compiler: RegoCompiler,
  policies: PolicySource[],
): Promise<CompiledPolicySet> {
  const path = join(inject('compiledPolicies'), `${compiler.sourcesDigest(policies)}.json`);
  if (existsSync(path)) return read(path);
  const result = await compiler.compile(policies);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const { wasm, entrypoints, builtins, modules, digest } = result;
  const text = Buffer.from(wasm).toString('base64');
  const stored = { wasm: text, entrypoints, builtins, modules, digest };
  // Whole or not at all: another file may be reading.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify(stored));
  renameSync(written, path);
  return read(path);
}

function read(path: string): CompiledPolicySet {
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  return { ...stored, wasm: new Uint8Array(Buffer.from(stored.wasm, 'base64')) };
}

/**
 * The real compiler, but that the baseline pack, with which every tenant begins under other ids, is
 * compiled once a run. The result is the compiler's own, byte by byte (compiled-once.test.ts).
 */
export function createTestCompiler(): RegoCompiler {
  const real = createRegoCompiler();
  const pack = baselinePack().map(({ name, rego_content }) => `${name}\n${rego_content}`);
  return {
    ...real,
    async compile(policies) {
      const sorted = [...policies].sort((a, b) => (a.id < b.id ? -1 : 1));
      const sources = sorted.map(({ name, rego }) => `${name}\n${rego}`);
      const isBaseline =
        [...sources].sort().join() === [...pack].sort().join() &&
        sorted.every(({ id }) => id.length === standIn(0).length);
      if (!isBaseline) return real.compile(policies);
      const standIns = sorted.map((policy, i) => ({ ...policy, id: standIn(i) }));
      const set = await compileOnceWith(real, standIns);
      const ids = sorted.map(({ id }, i) => [standIn(i), id] as const);
      return { ok: true, ...renamed(set, ids), digest: real.sourcesDigest(policies) };
    },
  };
}

/** An id in the place of another of the same length, in the same order. */
const standIn = (index: number) => `0190aaaa-0000-7000-8000-00000000000${index}`;

function renamed(
  { wasm, modules, ...rest }: CompiledPolicySet,
  ids: readonly (readonly [string, string])[],
): CompiledPolicySet {
  const bytes = Buffer.from(wasm);
  for (const [from, to] of ids) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at)) bytes.write(to, at);
  }
  const rename = (text: string) =>
    ids.reduce((done, [from, to]) => done.replaceAll(from, to), text);
  return {
    ...rest,
    wasm: new Uint8Array(bytes),
    modules: modules.map((one) => ({ ...one, path: rename(one.path), rego: rename(one.rego) })),
  };
}
