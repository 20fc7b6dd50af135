/**
 * Decisions by a real OPA server that loads our signed bundle by long polling, through the gateway
 * with a real MCP client.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeBundle } from '@governance/control-plane/bundles/bundle-content';
import type { GatewayConfig } from '@governance/data-plane/config';
import { STEP_LISTS } from '@governance/data-plane/enforcement/enforcer';
import { NOBODY_TO_ASK } from '@governance/data-plane/enforcement/holds/holds';
import { parseOpaAddress } from '@governance/data-plane/opa-server/opa-address';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestPlane,
} from '@governance/data-plane/testing/test-plane';
import { startTestUpstream } from '@governance/data-plane/testing/test-upstream';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { CompiledPolicySet, PolicySource } from '@governance/policies/contract';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findNativeOpa,
  type NativeOpa,
  NO_NATIVE_OPA,
  startNativeOpa,
} from './support/native-opa.ts';
import { freePort } from './support/service-process.ts';

const opaBinary = findNativeOpa();

const policy = (name: string, rego: string): PolicySource => ({
  id: `policy-${name}`,
  name,
  rego: `package p\n\n${rego}\n`,
});

const POLICIES = [
  policy('readers', 'allow if input.request.action == "read"'),
  policy(
    'writers',
    'allow if { input.request.action == "write"; "files:write" in input.agent.permissions }',
  ),
  policy(
    'big',
    'escalate contains sprintf("%d is much", [input.request.parameters.n]) if input.request.parameters.n > 50',
  ),
  policy('risky', 'deny contains "too risky" if input.agent.risk_tier == "critical"'),
  policy(
    'fails',
    'choice := 1 if input.request.parameters.n == 13\nchoice := 2 if input.request.parameters.n == 13\ndeny contains "chosen" if choice == 3',
  ),
  policy(
    'slow',
    `deny contains "found" if {
  input.request.parameters.n == 17
  some i in numbers.range(1, 3000)
  some j in numbers.range(1, 3000)
  some k in numbers.range(1, 3000)
  i * j * k == -1
}`,
  ),
];
const TOOLS = ['read_file', 'write_file', 'delete_file'];

if (opaBinary === undefined) {
  describe('a real OPA server', () => {
    it('is not on this machine, so nothing was asked of it', () => {
      console.info(`opa-server: ${NO_NATIVE_OPA}`);
      expect(findNativeOpa()).toBeUndefined();
    });
  });
} else {
  withOpa(opaBinary);
}

/** What a bundle service is: the newest one, with long polling. */
async function startBundleService() {
  let current: { etag: string; bytes: Buffer } | undefined;
  const waiting = new Set<() => void>();
  const send = (response: ServerResponse) => {
    if (!current) return void response.writeHead(404).end();
    response.writeHead(200, {
      etag: current.etag,
      'content-type': 'application/vnd.openpolicyagent.bundles',
    });
    response.end(current.bytes);
  };
  const server = createServer((request, response) => {
    if (!current || request.headers['if-none-match'] !== current.etag) return send(response);
    const answer = () => send(response);
    waiting.add(answer);
    response.once('close', () => waiting.delete(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publish(bytes: Buffer, etag: string) {
      current = { bytes, etag: `"${etag}"` };
      for (const answer of waiting) answer();
      waiting.clear();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function withOpa(binary: string) {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = { kid: 'k1', key: keys.privateKey, alg: 'ES256' as const };
  let folder: string;
  let compiled: CompiledPolicySet;
  let upstream: Awaited<ReturnType<typeof startTestUpstream>>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'governance-opa-'));
    const compiler = createRegoCompiler();
    const result = await compiler.compile(POLICIES);
    await compiler.close();
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    compiled = result;
    upstream = await startTestUpstream({ tools: TOOLS.map((name) => ({ name })) });
  });

  afterAll(async () => {
    await upstream?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A plane and the OPA that decides for it. */
  async function aPlane(
    over: { failClosed?: boolean; timeoutMs?: number; embedded?: boolean } = {},
  ) {
    const port = await freePort();
    const bundles = await startBundleService();
    const opa: GatewayConfig['opa'] = over.embedded
      ? null
      : {
          address: parseOpaAddress(`http://127.0.0.1:${port}`),
          token: null,
          timeoutMs: over.timeoutMs ?? 2_000,
          failClosed: over.failClosed ?? true,
        };
    const plane = await startTestPlane({
      servers: [HTTP_SERVER('files', upstream.url)],
      config: { opa },
      // What is escalated is compared, and nobody is asked.
      lists: { ...STEP_LISTS, holds: NOBODY_TO_ASK },
    });
    let revision = 1;
    let native: NativeOpa | undefined;
    const activate = async () => {
      await plane.setPolicies(POLICIES);
      plane.setServers([HTTP_SERVER('files', upstream.url)]);
      revision++;
    };
    const publish = async (given: { tenantId?: string; revision?: number } = {}) => {
      const tenantId = given.tenantId ?? plane.tenantId;
      const settings = { tenant_id: tenantId, mcp_servers: {} };
      const at = given.revision ?? revision;
      const { bytes, digest } = await composeBundle({
        tenantId: plane.tenantId,
        revision: at,
        compiled,
        settings,
        signer,
      });
      bundles.publish(bytes, digest);
    };
    const start = async () => {
      const config = join(folder, `${port}.json`);
      const key = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      writeFileSync(
        config,
        JSON.stringify({
          services: { governance: { url: bundles.url } },
          keys: { k1: { key, algorithm: 'ES256', scope: plane.tenantId } },
          bundles: {
            governance: {
              service: 'governance',
              resource: '/bundle',
              signing: { keyid: 'k1', scope: plane.tenantId },
              polling: { long_polling_timeout_seconds: 10 },
            },
          },
        }),
      );
      native = await startNativeOpa(
        binary,
        ['--config-file', config, '--log-level', 'error'],
        port,
      );
    };
    await activate();
    return {
      plane,
      activate,
      publish,
      start,
      kill: async () => native?.stop(),
      async stop() {
        await plane.stop();
        await native?.stop();
        await bundles.stop();
      },
    };
  }

  async function aClient(plane: TestPlane, agent = plane.addAgent(['files:*', 'files:write'])) {
    const client = new Client({ name: 'opa', version: '1' });
    const headers = { authorization: agent.basic };
    const url = new URL(`${plane.url}/mcp/v1/files`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return {
      close: () => client.close(),
      /** `allowed`, or what the agent is told. */
      call: (name: string, args: Record<string, unknown> = {}): Promise<string> =>
        client.callTool({ name, arguments: args }).then(
          () => 'allowed',
          (error: unknown) => String((error as Error).message),
        ),
    };
  }

  const decisions = async (plane: TestPlane) =>
    (await plane.records()).filter((record) => record.type === 'decision');
  const untilAllowed = (call: () => Promise<string>) =>
    expect.poll(call, { timeout: 10_000 }).toBe('allowed');

  describe('a real OPA server', () => {
    it('decides as the built-in engine does', async () => {
      const served = await aPlane();
      const embedded = await aPlane({ embedded: true });
      try {
        await served.publish();
        await served.start();
        const kinds = [
          [['files:*', 'files:write'], 'low'],
          [['files:read'], 'medium'],
          [['files:*'], 'critical'],
        ] as const;
        const pairs = await Promise.all(
          kinds.map(([permissions, risk_tier]) =>
            Promise.all(
              [served, embedded].map(({ plane }) =>
                aClient(plane, plane.addAgent([...permissions], { risk_tier })),
              ),
            ),
          ),
        );
        await untilAllowed(() => pairs[0]?.[0]?.call('read_file') ?? Promise.resolve(''));
        const seen = new Set<string>();
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...pairs),
            fc.constantFrom(...TOOLS),
            fc.record(
              {
                n: fc.integer({ min: -5, max: 120 }).filter((n) => n !== 17),
                path: fc.string(),
                nested: fc.jsonValue({ maxDepth: 2, noUnicodeString: false }),
              },
              { requiredKeys: [] },
            ),
            async ([byOpa, byEngine], tool, args) => {
              const [one, other] = [
                await byOpa?.call(tool, args),
                await byEngine?.call(tool, args),
              ];
              seen.add(one?.split(':')[1] ?? 'allowed');
              expect(one).toBe(other);
            },
          ),
          { numRuns: 150 },
        );
        // Allowed, denied and escalated: the comparison says something.
        expect(seen.size).toBeGreaterThanOrEqual(3);
        // A policy that fails is an answer of OPA's, a denial as with the engine.
        const failing = { n: 13 };
        expect(await pairs[0]?.[0]?.call('read_file', failing)).toBe(
          await pairs[0]?.[1]?.call('read_file', failing),
        );
        for (const client of pairs.flat()) await client.close();
      } finally {
        await served.stop();
        await embedded.stop();
      }
    }, 90_000);

    it('denies while it is away, with the reason, and allows again when it is back', async () => {
      const { plane, publish, start, kill, stop } = await aPlane();
      try {
        const client = await aClient(plane);
        const read = () => client.call('read_file');
        expect(await read()).toContain('the policy engine cannot be reached');
        await publish();
        await start();
        await untilAllowed(read);
        expect(await plane.plane.policyEngine([plane.tenantId])).toMatchObject({ healthy: true });
        await kill();
        expect(await read()).toContain('the policy engine cannot be reached');
        expect(await plane.plane.policyEngine([plane.tenantId])).toMatchObject({
          healthy: false,
          denies: true,
        });
        const began = performance.now();
        for (let i = 0; i < 20; i++) expect(await read()).toContain('cannot be reached');
        // Far from twenty times the two seconds that OPA may take.
        expect(performance.now() - began).toBeLessThan(20_000);
        await start();
        await untilAllowed(read);
        const records = await plane.records();
        const denied = records.filter((r) => r.type === 'decision' && r.policy_result === 'deny');
        expect(denied.length).toBeGreaterThanOrEqual(22);
        expect(denied[0]).toMatchObject({
          decided_by: 'policy',
          policy_reason: expect.stringMatching(/^opa_unavailable: /),
        });
        const alerts = records.filter((record) => record.type === 'alert');
        expect(alerts.map((alert) => alert.alert_type)).toContain('OPA_UNAVAILABLE');
        // Calls are asked before the next probe has seen that the bundle is there again.
        await expect
          .poll(() => plane.registry.metrics(), { timeout: 10_000 })
          .toContain('governance_opa_servers{state="ok"} 1');
        await client.close();
      } finally {
        await stop();
      }
    }, 60_000);

    it('fails open only where it cannot be reached: audited, with one alert', async () => {
      const { plane, publish, start, kill, stop } = await aPlane({
        failClosed: false,
        timeoutMs: 400,
      });
      try {
        const client = await aClient(plane);
        // Denied by policy, had anybody been asked.
        for (let i = 0; i < 5; i++) expect(await client.call('delete_file')).toBe('allowed');
        const records = await plane.records();
        const allowed = records.filter((record) => record.type === 'decision');
        expect(allowed).toHaveLength(5);
        for (const record of allowed) {
          expect(record).toMatchObject({
            policy_result: 'allow',
            policy_reason: expect.stringMatching(/^opa_unavailable_allowed: /),
          });
        }
        const alerts = records.filter((record) => record.type === 'alert');
        expect(alerts.map((alert) => alert.alert_type)).toEqual(['OPA_UNAVAILABLE_ALLOWED']);
        expect(await plane.plane.policyEngine([plane.tenantId])).toMatchObject({
          healthy: false,
          denies: false,
        });
        await start();
        // There, and without a bundle: an answer, and none that allows.
        await expect
          .poll(() => client.call('read_file'), { timeout: 5_000 })
          .toContain('has no rules');
        await publish();
        await untilAllowed(() => client.call('read_file'));
        expect(await client.call('delete_file')).toContain('no policy allows');
        // What a caller can bring about with a healthy server is no outage.
        expect(await client.call('read_file', { n: 13 })).toContain('could not be evaluated');
        expect(await client.call('read_file', { n: 17 })).toContain('took too long');
        expect(await client.call('read_file')).toBe('allowed');
        plane.engageKillSwitch(true);
        await kill();
        expect(await client.call('read_file')).toContain('Unauthorized');
        await client.close();
      } finally {
        await stop();
      }
    }, 60_000);

    it('counts only by the bundle that is active here', async () => {
      const { plane, publish, start, activate, stop } = await aPlane();
      try {
        const client = await aClient(plane);
        await publish();
        await start();
        await untilAllowed(() => client.call('read_file'));
        await activate();
        const began = performance.now();
        expect(await client.call('read_file')).toContain('does not have the newest rules');
        expect(performance.now() - began).toBeGreaterThan(900);
        const last = (await decisions(plane)).at(-1);
        expect(last).toMatchObject({ policy_reason: expect.stringMatching(/^opa_stale: /) });

        // It waits for OPA, and what changed meanwhile holds.
        const waiting = client.call('read_file');
        await new Promise((resolve) => setTimeout(resolve, 200));
        await publish();
        expect(await waiting).toBe('allowed');

        await activate();
        const barred = client.call('read_file');
        await new Promise((resolve) => setTimeout(resolve, 200));
        plane.engageKillSwitch(true);
        await publish();
        expect(await barred).toContain('Unauthorized');
        plane.engageKillSwitch(false, 2);

        await publish({ revision: 1_000 });
        await expect
          .poll(() => client.call('read_file'), { timeout: 10_000 })
          .toContain('rules that are not in force here');
        await publish({ tenantId: '0190aaaa-0000-7000-8000-00000000000f' });
        await expect
          .poll(() => client.call('read_file'), { timeout: 15_000 })
          .toContain('the rules of another tenant');
        await client.close();
      } finally {
        await stop();
      }
    }, 60_000);
  });
}
