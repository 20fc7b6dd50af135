/**
 * An enforcement plane for tests, as production composes it: the real ledger and replica in a
 * temporary folder, the real policy engine, a listener on a real socket. Facts are put in by feed
 * entries, policies are compiled.
 */
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { baselinePack } from '@governance/policies/baseline-pack';
import type { PolicySource } from '@governance/policies/contract';
import { loadPolicyEngine } from '@governance/policies/evaluator/policy-engine';
import type { BundleSettings, McpServerSetting } from '@governance/shared/bundle/bundle-format';
import type { AgentFact, FeedEntry, KillSwitchFact } from '@governance/shared/channel/facts';
import { answerUnmatched } from '@governance/shared/http/unmatched-requests';
import { uuidv7 } from '@governance/shared/ids';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger/ledger-record';
import { oneAtATime } from '@governance/shared/one-at-a-time';
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import { AGENT_TOKEN_TYP, gatewayAudience } from '@governance/shared/tokens/agent-token';
import fastify from 'fastify';
import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { compileOnce } from '../../../tests/support/compiled-once.ts';
import { type GatewayConfig, readGatewayConfig } from '../config.ts';
import type { ActiveRules, AskForNews, FindDenial, Ledger } from '../contracts.ts';
import type { StepLists } from '../enforcement/enforcer.ts';
import type { Holds } from '../enforcement/holds/holds.ts';
import { createHeldCalls } from '../holds/held-calls.ts';
import { HELD_RESULTS_FILE, openHeldResults } from '../holds/held-results.ts';
import { loadIdentity } from '../identity/identity.ts';
import { createLedger } from '../ledger/ledger.ts';
import { localRoutes } from '../local-api/local-routes.ts';
import { asTokenKeys, createLocalTokens, ownTokenKey } from '../local-api/token-issuer.ts';
import type { PayloadSpool } from '../payloads/payload-spool.ts';
import { createEnforcement } from '../plane/enforcement.ts';
import { createEnforcementPlane } from '../plane/enforcement-plane.ts';
import { createReplica } from '../replica/replica.ts';
import type { StdioServers } from '../upstream/stdio/servers-file.ts';
import { ownViews } from '../workers/worker-views.ts';
import { aPlace, type PlanePlace } from './test-place.ts';

export interface TestPlaneOptions {
  servers?: McpServerSetting[];
  stdioServers?: StdioServers;
  /** Has the plane be one of several tenants. */
  servesSeveral?: () => boolean;
  config?: Partial<GatewayConfig>;
  /** Beside the baseline pack. */
  policies?: PolicySource[];
  /** Stands between the plane and its ledger. */
  wrapLedger?: (ledger: Ledger) => Ledger;
  now?: () => number;
  planeNow?: () => number;
  keepAliveMs?: number;
  log?: Logger;
  findDenial?: FindDenial;
  askForNews?: AskForNews;
  /** The steps, and how calls are held, where they are not the product's. */
  lists?: StepLists & { holds?: Holds };
  /** Has a token route of its own, as a data plane by itself. */
  issuesTokens?: boolean;
  /** Its facts are those of a control plane: it makes none itself. */
  isFed?: boolean;
  /** Takes what is kept of calls. */
  keepPayload?: PayloadSpool['add'];
}

export interface TestAgent {
  id: string;
  clientId: string;
  secret: string;
  basic: string;
  /** A fresh token; `over` replaces claims, `header` replaces parts of the header. */
  token(over?: Record<string, unknown>, header?: Record<string, unknown>): string;
  bearer(over?: Record<string, unknown>): string;
  /** Changes the agent in the replica. */
  update(over: Partial<AgentFact>): void;
}

export type TestPlane = Awaited<ReturnType<typeof startTestPlane>>;

export const HTTP_SERVER = (serverId: string, url: string): McpServerSetting => ({
  server_id: serverId,
  transport: 'streamable-http',
  url,
  local_name: null,
});

export const STDIO_SERVER = (serverId: string): McpServerSetting => ({
  server_id: serverId,
  transport: 'stdio',
  url: null,
  local_name: serverId,
});

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ownKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = keys.publicKey.export({ format: 'jwk' });

/** Signs a token as the control plane does. */
export function signToken(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key = keys.privateKey,
): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = { alg: 'RS256', typ: AGENT_TOKEN_TYP, kid: 'test-key', ...header };
  const signed = `${encode(head)}.${encode(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

/**
 * Starts a plane. `stop` ends everything that it started, `leave` lets its folder be.
 *
 * @param at where one was left, which is started again
 */
export async function startTestPlane(options: TestPlaneOptions = {}, at?: PlanePlace) {
  const place = at ?? (await aPlace());
  const { dataDir, tenantId, deploymentId, cursors, signingKey } = place;
  const now = options.now ?? Date.now;
  const ledger = await createLedger({
    dataDir,
    signingKey,
    writerVersion: 'test',
    onFatal: (error) => {
      throw error;
    },
  });
  await ledger.open(tenantId, deploymentId);
  const replica = createReplica({ dataDir, onRefused: () => undefined });
  replica.addTenant(tenantId, deploymentId);

  const app = fastify({ forceCloseConnections: true });
  // As the service's own listener has it (shared/src/http/http-server.ts).
  oneAtATime(app);
  answerUnmatched(app);
  app.decorateRequest('clientAddress', {
    getter() {
      return this.raw.socket.remoteAddress ?? '';
    },
  });
  // The address has to be known before the plane is built, as its tokens name it.
  const publicUrl = `http://127.0.0.1:${place.port}`;

  const applyAt = (tenant: string) => (kind: string, key: string, value: unknown) => {
    const seq = (cursors.get(tenant) ?? 0) + 1;
    cursors.set(tenant, seq);
    const entry: FeedEntry = { seq, kind, key, value };
    replica.apply(tenant, [entry], seq);
  };
  const apply = applyAt(tenantId);
  const key = { ...jwk, kty: 'RSA', kid: 'test-key', alg: 'RS256' };
  if (!options.isFed) apply('token_keys', 'current', { issuer: publicUrl, keys: [key] });

  let rules: ActiveRules | null = null;
  /** Other tenants of the plane, with the policies and servers of this one. */
  const neighbours = new Map<string, string>();
  /** As long as the plane's own rules are the same, a neighbour's are: calls compare them. */
  const ofNeighbours = new WeakMap<ActiveRules, Map<string, ActiveRules>>();
  const findActiveRules = (id: string): ActiveRules | null => {
    if (id === tenantId || rules === null) return id === tenantId ? rules : null;
    if (!neighbours.has(id)) return null;
    const known = ofNeighbours.get(rules) ?? new Map<string, ActiveRules>();
    ofNeighbours.set(rules, known);
    const own = known.get(id) ?? { ...rules, settings: { ...rules.settings, tenant_id: id } };
    known.set(id, own);
    return own;
  };
  const setServers = (servers: McpServerSetting[]) => {
    if (rules === null) return;
    const mcp_servers = Object.fromEntries(servers.map((server) => [server.server_id, server]));
    rules = { ...rules, settings: { ...rules.settings, mcp_servers } };
  };
  const setSettings = (settings: Partial<BundleSettings>) => {
    if (rules !== null) rules = { ...rules, settings: { ...rules.settings, ...settings } };
  };
  const setPolicies = async (policies: PolicySource[]) => {
    const engine = await loadPolicyEngine((await compileOnce(policies)).wasm, {});
    // A test calls as often as it needs, unless it sets limits itself.
    const rate_limits = { ...DEFAULT_RATE_LIMITS, enabled: false };
    const before = rules?.settings ?? { tenant_id: tenantId, mcp_servers: {}, rate_limits };
    const local_models_policy = policies.some(({ rego }) => rego.includes(MODELS_POLICY));
    const settings = { ...before, local_models_policy };
    rules = { revision: (rules?.revision ?? 0) + 1, digest: 'ab'.repeat(32), settings, engine };
  };
  const policies = [...baseline(), ...(options.policies ?? [])];
  await setPolicies(policies);
  setServers(options.servers ?? []);

  const identity = loadIdentity(dataDir);
  const heldResults = openHeldResults(join(dataDir, HELD_RESULTS_FILE), {
    seal: identity.sealOwn,
    open: identity.openSealedNow,
  });
  const held = createHeldCalls({ ledger, replica, results: heldResults, now });
  held.load(tenantId);
  const findDenial = options.findDenial ?? (() => null);
  const ownKey = await ownTokenKey(ownKeys.privateKey);
  const registry = new Registry();
  const plane = createEnforcementPlane(
    (deps, parts) => createEnforcement(deps, parts, options.lists),
    {
      config: {
        ...readGatewayConfig({}),
        ...(options.stdioServers && { stdioServers: options.stdioServers }),
        ...options.config,
      },
      publicUrl,
      version: 'test',
      findRegion: () => 'eu-test',
      ledger: options.wrapLedger?.(ledger) ?? ledger,
      replica,
      rules: { findActiveRules },
      findDeploymentId: (id) => neighbours.get(id) ?? deploymentId,
      findDenial,
      askForNews: options.askForNews ?? (() => null),
      planeNow: options.planeNow ?? now,
      servesSeveral: options.servesSeveral ?? (() => false),
      ...(options.issuesTokens && { ownTokenKeys: asTokenKeys(ownKey, publicUrl) }),
      taskSecret: ownKeys.privateKey,
      openSealed: async (sealed) => Buffer.from(sealed, 'base64url').toString('utf8'),
      openSealedNow: (sealed) => Buffer.from(sealed, 'base64url').toString('utf8'),
      held,
      heldResults,
      payloadSpool: { add: options.keepPayload ?? (() => true) },
      sharedDir: dataDir,
      registry,
      log: options.log ?? pino({ level: process.env.TEST_LOG ?? 'silent' }),
      now,
      ...(options.keepAliveMs !== undefined && { keepAliveMs: options.keepAliveMs }),
    },
  );
  if (options.issuesTokens) {
    await app.register(
      localRoutes({
        publicUrl,
        version: 'test',
        tokens: createLocalTokens({ key: ownKey, publicUrl, replica, findDenial }),
        tokenKey: ownKey,
        metricsToken: undefined,
        isProduction: false,
        views: ownViews({
          registries: [registry],
          health: () => ({ status: 'ok' }),
          findUnready: async () => ({}),
        }),
      }),
    );
  }
  await app.register(plane.routes);
  await app.listen({ port: place.port, host: '127.0.0.1' });

  const addAgent = (permissions?: string[], over?: Partial<AgentFact>): TestAgent =>
    addAgentAt(tenantId, permissions, over);

  function addAgentAt(
    tenantId: string,
    permissions: string[] = ['*:*'],
    over: Partial<AgentFact> = {},
  ): TestAgent {
    const apply = applyAt(tenantId);
    const roleId = uuidv7();
    const secret = `secret-${roleId}`;
    const role = { id: roleId, name: 'role', permissions, resource_scopes: [] };
    apply('role', roleId, role);
    let fact: AgentFact = {
      id: uuidv7(),
      name: 'Test agent',
      agent_type: 'test',
      owner: 'tests',
      status: 'active',
      risk_score: 10,
      risk_tier: 'low',
      client_id: `client-${roleId}`,
      secret_hash: hash('sha256', secret, 'hex'),
      credential_version: 1,
      kill_released_generation: 0,
      role_ids: [roleId],
      ...over,
    };
    apply('agent', fact.id, fact);
    const token: TestAgent['token'] = (claims = {}, header = {}) => {
      const iat = Math.floor(now() / 1000);
      const standard = {
        iss: publicUrl,
        aud: gatewayAudience(publicUrl),
        sub: fact.id,
        iat,
        exp: iat + 900,
        jti: uuidv7(),
        tenant_id: tenantId,
        feed_seq: cursors.get(tenantId) ?? 0,
        credential_version: fact.credential_version,
        roles: ['role'],
        permissions,
        risk_tier: fact.risk_tier,
      };
      return signToken({ ...standard, ...claims }, header);
    };
    return {
      id: fact.id,
      clientId: fact.client_id,
      secret,
      basic: `Basic ${Buffer.from(`${fact.client_id}:${secret}`).toString('base64')}`,
      token,
      bearer: (claims) => `Bearer ${token(claims)}`,
      update(change) {
        fact = { ...fact, ...change };
        apply('agent', fact.id, fact);
      },
    };
  }

  async function leave(): Promise<void> {
    await app.close();
    await plane.stop();
    held.stop();
    await ledger.stop();
    heldResults.close();
    replica.close();
  }

  return {
    url: publicUrl,
    place,
    tenantId,
    deploymentId,
    registry,
    plane,
    app,
    ledger,
    replica,
    held,
    heldResults,
    apply,
    addAgent,
    setServers,
    /** Members of the bundle's settings; the others stay. */
    setSettings,
    setPolicies,
    /** Those that it began with. */
    policies: () => policies,
    cursor: () => cursors.get(tenantId) ?? 0,
    /** Another tenant of this plane, with the policies and servers of the first. */
    async addNeighbour() {
      const neighbour = uuidv7();
      const deployment = uuidv7();
      await ledger.open(neighbour, deployment);
      replica.addTenant(neighbour, deployment);
      neighbours.set(neighbour, deployment);
      applyAt(neighbour)('token_keys', 'current', { issuer: publicUrl, keys: [key] });
      return {
        tenantId: neighbour,
        addAgent: (permissions?: string[]) => addAgentAt(neighbour, permissions),
      };
    },
    clearRules: () => {
      rules = null;
    },
    engageKillSwitch: (engaged: boolean, generation = 1) => {
      const fact: KillSwitchFact = {
        generation,
        engaged,
        reason: 'test',
        changed_at: new Date().toISOString(),
      };
      apply('kill_switch', 'tenant', fact);
    },
    /** POSTs a message (or text, verbatim) and answers with status, headers and JSON. */
    async post(path: string, message: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${publicUrl}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      });
      const text = await response.text();
      const type = response.headers.get('content-type') ?? '';
      const json =
        type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined;
      return { status: response.status, headers: response.headers, text, json };
    },
    /** All records of the ledger so far, in their order. They are taken off its outbox. */
    records: async (): Promise<LedgerRecord[]> => {
      const found: LedgerRecord[] = [];
      for (;;) {
        const batch = await ledger.nextBatch(tenantId, 500);
        if (batch === null) return found;
        found.push(...batch.records.map(parseRecord));
        const { epoch, last_seq, head } = batch.header;
        await ledger.markShipped(tenantId, { epoch, seq: last_seq, head });
      }
    },
    leave,
    async stop() {
      await leave();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** As the control plane recognises it. */
const MODELS_POLICY = 'package baseline.local_models\n';

/** The baseline pack as it is compiled for a tenant. */
function baseline(): PolicySource[] {
  return baselinePack().map(({ name, rego_content }, i) => ({
    id: `0190aaaa-0000-7000-8000-00000000000${i}`,
    name,
    rego: rego_content,
  }));
}
