/** Shared by the evaluator's tests: policies compiled by the real compiler, and inputs. */
import { afterAll } from 'vitest';
import { createRegoCompiler } from '../compiler/rego-compiler.ts';
import type { PolicyInput } from '../contract.ts';

/** A compiler for one test file, closed when the file is done; patient with a busy machine. */
export function testCompiler() {
  const compiler = createRegoCompiler({ timeoutMs: 60_000 });
  afterAll(() => compiler.close());
  return {
    compiler,
    /** Compiles one module unchanged, for `governance/decision`. */
    async decision(rego: string): Promise<Uint8Array> {
      const compiled = await compiler.compileRaw(
        [{ path: 'decision.rego', rego: `package governance\n\n${rego}` }],
        ['governance/decision'],
      );
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
      return compiled.wasm;
    },
    /** Compiles policies under the aggregator, as bundles hold them. */
    async policies(...regos: string[]): Promise<Uint8Array> {
      const compiled = await compiler.compile(
        regos.map((rego, i) => ({ id: `policy-${i}`, name: `Policy ${i}`, rego })),
      );
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
      return compiled.wasm;
    },
  };
}

/** A call that a permission of its agent covers. */
export function aPolicyInput(
  request: Partial<PolicyInput['request']> = {},
  agent: Partial<PolicyInput['agent']> = {},
): PolicyInput {
  return {
    agent: {
      id: 'agent-1',
      name: 'build-agent',
      agent_type: 'assistant',
      owner: 'platform',
      roles: ['reader'],
      permissions: ['files:read'],
      risk_tier: 'low',
      risk_score: 12.5,
      ...agent,
    },
    request: {
      tool_name: 'read_file',
      action: 'read',
      resource: '/srv/data/report.txt',
      parameters: { path: '/srv/data/report.txt' },
      mcp_server: 'files',
      method: 'tools/call',
      ...request,
    },
    requester: { id: null, verified: false },
    workflow: null,
    delegation: null,
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      time: '2026-03-04T05:06:07.089Z',
      data_plane: 'plane-1',
      region: 'eu',
      model: null,
      agent_role: null,
    },
  };
}

/** A verdict as Rego text. */
export function verdictRego(decision: string, message = 'because'): string {
  return `{"decision": "${decision}", "reasons": [{"policy_id": "p", "policy": "P", "rule": "${decision}", "message": "${message}"}]}`;
}
