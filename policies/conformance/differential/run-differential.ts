/**
 * Compares our evaluator with a stock OPA: both decide from the same signed bundle. The bundle
 * writer is a parameter, so that the product's own writer is used.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { assetPath } from '@governance/shared/process/assets';
import { OWN_BUILTINS } from '../../src/builtin-names.ts';
import { createRegoCompiler } from '../../src/compiler/rego-compiler.ts';
import type { CompiledPolicySet, PolicySource } from '../../src/contract.ts';
import { loadPolicyEngine } from '../../src/evaluator/policy-engine.ts';
import { generateInputs } from './generate-inputs.ts';
import { type OpaServer, startOpaServer } from './opa-server.ts';

const POLICIES = 'policies/conformance/differential/policies';
const TENANT = '0197a3c0-0000-7000-8000-000000000001';
const KEY_ID = 'differential';

export const DIFFERENTIAL_SETTINGS = {
  tenant_id: TENANT,
  mcp_servers: {
    files: {
      server_id: 'files',
      transport: 'streamable-http',
      url: 'http://files/',
      local_name: null,
    },
    web: { server_id: 'web', transport: 'streamable-http', url: 'http://web/', local_name: null },
    local: { server_id: 'local', transport: 'stdio', url: null, local_name: 'local' },
  },
} as const;

/** Writes a signed bundle as OPA reads it, with `settings` in its data.json. */
export type WriteBundle = (request: {
  tenantId: string;
  compiled: CompiledPolicySet;
  settings: typeof DIFFERENTIAL_SETTINGS;
  signer: { kid: string; key: KeyObject; alg: 'ES256' };
}) => Promise<Buffer>;

export interface DifferentialReport {
  policies: number;
  inputs: number;
  /** Grouped by the stock OPA's decision. */
  decisions: Record<'allow' | 'deny' | 'escalate', number>;
  /** Our built-ins that the policies call. */
  builtins: string[];
  /** Our built-ins that no policy calls. */
  builtinsUnused: string[];
  differences: { set: string; input: string; opa: unknown; ours: unknown }[];
}

export interface DifferentialOptions {
  writeBundle: WriteBundle;
  /** Inputs for all policies together, and for each policy alone (0: all together only). */
  inputsTogether: number;
  inputsAlone: number;
  seed: number;
}

/** The policies of the comparison, by the name of their file. */
export function readDifferentialPolicies(): PolicySource[] {
  const folder = assetPath(POLICIES);
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const id = file.replace('.rego', '');
      return { id, name: `Policy ${id}`, rego: readFileSync(join(folder, file), 'utf8') };
    });
}

/**
 * Runs the comparison. Needs `opa` on the path.
 * Throws when a policy does not compile, a bundle does not verify, or OPA does not answer.
 */
export async function runDifferential(options: DifferentialOptions): Promise<DifferentialReport> {
  const policies = readDifferentialPolicies();
  const sets = [
    { name: 'all', policies, inputs: generateInputs(options.seed, options.inputsTogether) },
    ...(options.inputsAlone === 0 ? [] : policies).map((policy, i) => ({
      name: policy.id,
      policies: [policy],
      inputs: generateInputs(options.seed + 1 + i, options.inputsAlone),
    })),
  ];
  const report: DifferentialReport = {
    policies: policies.length,
    inputs: 0,
    decisions: { allow: 0, deny: 0, escalate: 0 },
    builtins: [],
    builtinsUnused: [],
    differences: [],
  };
  const compiler = createRegoCompiler();
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const folder = mkdtempSync(join(tmpdir(), 'governance-differential-'));
  try {
    const keyPath = join(folder, 'key.pem');
    writeFileSync(keyPath, keys.publicKey.export({ type: 'spki', format: 'pem' }));
    for (const set of sets) {
      const compiled = await compiler.compile(set.policies);
      if (!compiled.ok) {
        throw new Error(`${set.name} does not compile: ${JSON.stringify(compiled.diagnostics)}`);
      }
      if (set.name === 'all') report.builtins = compiled.builtins;
      const bundle = await options.writeBundle({
        tenantId: TENANT,
        compiled,
        settings: DIFFERENTIAL_SETTINGS,
        signer: { kid: KEY_ID, key: keys.privateKey, alg: 'ES256' },
      });
      const bundlePath = join(folder, `${set.name}.tar.gz`);
      writeFileSync(bundlePath, bundle);
      const server = await startOpaServer({
        bundlePath,
        verificationKeyPath: keyPath,
        verificationKeyId: KEY_ID,
        algorithm: 'ES256',
        scope: TENANT,
      });
      try {
        await compareSet(set, compiled.wasm, server, report);
      } finally {
        await server.stop();
      }
    }
  } finally {
    await compiler.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const used = new Set(report.builtins);
  report.builtinsUnused = OWN_BUILTINS.filter((name) => !used.has(`governance.${name}`));
  return report;
}

async function compareSet(
  set: { name: string; inputs: string[] },
  wasm: Uint8Array,
  server: OpaServer,
  report: DifferentialReport,
): Promise<void> {
  const engine = await loadPolicyEngine(wasm, { settings: DIFFERENTIAL_SETTINGS });
  for (const input of set.inputs) {
    const opa = await server.decide(input);
    const outcome = engine.evaluateRaw(input);
    const ours = outcome.ok ? outcome.verdict : outcome;
    report.inputs++;
    const decision = (opa as { decision?: unknown } | undefined)?.decision;
    if (decision === 'allow' || decision === 'deny' || decision === 'escalate') {
      report.decisions[decision]++;
    }
    if (!isDeepStrictEqual(opa, ours)) {
      report.differences.push({ set: set.name, input, opa, ours });
    }
  }
}
