/**
 * The parts that all features use: the database, the keys, authentication, and the channels to the
 * data planes. It uses features only through their list.
 */
import type { KeyObject } from 'node:crypto';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { RegoCompiler } from '@governance/policies/contract';
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { createOutboundClient } from '@governance/shared/outbound/outbound-client';
import type { Secret } from '@governance/shared/settings';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createAdminLogin, createSuperAdmin } from './auth/admin-login.ts';
import { createAdminTokens } from './auth/admin-tokens.ts';
import { createPasswordGate } from './auth/password-gate.ts';
import { createBundleBuilder } from './bundles/bundle-builder.ts';
import { createBundleObserver } from './bundles/bundle-observer.ts';
import { createBundleSource } from './bundles/bundle-source.ts';
import { createAdminHeadCheck } from './chain/admin-head-check.ts';
import { createChainBreakRecorder } from './chain/chain-breaks.ts';
import { createChainVerifier } from './chain/chain-verification.ts';
import { readEvidenceKeys } from './chain/evidence-keys.ts';
import type { ControlPlaneConfig } from './config.ts';
import { createAttestedPlanes } from './data-planes/attested-planes.ts';
import { createDataPlaneService } from './data-planes/data-plane-service.ts';
import { createSealedFactTurns } from './data-planes/sealed-facts.ts';
import { createApprovalCheck } from './escalations/approval-check.ts';
import { createAdminSigner } from './evidence/admin-batches.ts';
import { listKeyEntries } from './evidence/key-entries.ts';
import { createLogViews } from './evidence/watchers/log-views.ts';
import { createLogWatchCheck } from './evidence/watchers/log-watch-check.ts';
import { createFeedReader } from './feed/feed-reader.ts';
import { createPinnedToolReports } from './inbound/pinned-tool-reports.ts';
import { createIngestService } from './ingest/ingest-service.ts';
import { createLedgerPartitions } from './ingest/ledger-partitions.ts';
import { createLedgerStatistics } from './ingest/ledger-statistics.ts';
import { createRecordDisputes } from './ingest/record-disputes.ts';
import { createViolationAlerts } from './ingest/violations.ts';
import { createConfiguredProviders } from './key-management/configured-providers.ts';
import { createDataKeys } from './key-management/data-keys.ts';
import type { KeyProvider, KeyProviderName } from './key-management/key-provider.ts';
import { createKeyProviders } from './key-management/key-providers.ts';
import { createPayloadIngest } from './payloads/payload-ingest.ts';
import { createPayloadSealingKey } from './payloads/payload-sealing-key.ts';
import { PLATFORM } from './platform/database/change-bus.ts';
import type { Connections } from './platform/database/database.ts';
import { createLookups } from './platform/database/lookups.ts';
import { createTenantDatabase } from './platform/database/tenant-scope.ts';
import type { FeatureList } from './platform/feature-list.ts';
import { createGuards } from './platform/http/guards.ts';
import { readFollowedHistory } from './platform/keys/key-history.ts';
import { createServiceKeys } from './platform/keys/keys.ts';
import { createMasterKey } from './platform/keys/master-key.ts';
import { createRowAttestations } from './platform/keys/row-attestations.ts';
import { createStandingClock } from './platform/keys/standing-clock.ts';
import { createTokenKeys } from './platform/keys/token-keys.ts';
import { createLeaderWork } from './platform/replicas/leader.ts';
import { createReplicaChanges } from './platform/replicas/replica-changes.ts';
import { createPolicyRecords } from './policies/policy-records.ts';
import { readActivePolicies } from './policies/policy-store.ts';
import { createTenantService } from './tenants/tenant-service.ts';

export interface CoreDeps {
  config: ControlPlaneConfig;
  connections: Connections;
  /** Configured, or made by the service and kept in the data folder. */
  masterKey: Secret<Buffer>;
  /** The agents' token key, where an earlier version kept it outside the database. */
  tokenKey?: Secret<KeyObject> | undefined;
  log: Logger;
  now?: () => Date;
  /** Closed with the control plane; created unless given. */
  compiler?: RegoCompiler;
  /** Beside `local`; those of the settings unless given. */
  keyProviders?: Partial<Record<KeyProviderName, KeyProvider>>;
  /** Standalone: resolves when the local data plane has applied a change. */
  applied?: AppliedBarrier;
  /** Standalone: lets the local data plane serve a new tenant. */
  onTenantCreated?: (tenantId: string) => Promise<void>;
  /** Standalone: the stdio servers that a tenant may use at the local data plane. */
  listStdioNames?: (tenantId: string) => readonly string[] | undefined;
  /** Standalone: why the local data plane cannot serve that number of tenants. */
  findTenantProblem?: (tenants: number) => string | undefined;
}

const NOTHING_TO_WAIT_FOR: AppliedBarrier = { wait: async () => {} };

/**
 * @param features filled afterwards, before the first request: features are made from what this
 *   returns
 */
export async function createCore(deps: CoreDeps, features: FeatureList) {
  const platform = createPlatform(deps);
  const identity = await createIdentity(deps, platform);
  const channels = createChannels(deps, platform, features);
  const tenants = createTenantService({
    db: platform.db,
    lookups: platform.lookups,
    passwordGate: identity.passwordGate,
    begin: features.beginTenant,
    findTenantProblem: deps.findTenantProblem,
    afterCreation: async (tenantId, feedSeq) => {
      const { revision } = await channels.bundles.requestBuild(tenantId);
      await deps.onTenantCreated?.(tenantId);
      await platform.applied.wait(tenantId, { feedSeq, bundleRevision: revision });
    },
  });
  const { listStdioNames } = deps;
  const { endWithServer } = features;
  return { ...platform, ...identity, ...channels, tenants, listStdioNames, endWithServer };
}

export type Core = Awaited<ReturnType<typeof createCore>>;

type Platform = ReturnType<typeof createPlatform>;

function createPlatform({ config, connections, log, masterKey: secret, ...deps }: CoreDeps) {
  const now = deps.now ?? (() => new Date());
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const changes = createReplicaChanges({
    connections,
    onListenerError: (error) => log.error({ err: error }, 'a listener failed'),
    log,
    registry,
  });
  const db = createTenantDatabase({ connections, changes, now });
  // A given clock is taken as it is: whoever gives it may set it back.
  const standingClock = deps.now ? undefined : createStandingClock({ db, now, log, registry });
  const masterKey = createMasterKey(secret, config.masterKeyPrevious);
  const keyNow = standingClock?.kept ?? now;
  const serviceKeys = createServiceKeys({
    ...{ db, masterKey, now: keyNow },
    isClockAhead: standingClock?.isAhead ?? (() => false),
    overlapMs: config.keyOverlapSeconds * 1_000,
    given: deps.tokenKey ? { 'token-signing': deps.tokenKey.reveal() } : {},
    onUnusable: (key) => log.error(key, 'a service key cannot be used: restore its row'),
    onDamagedRotation: (rotation) =>
      log.error(rotation, 'the statement of a key rotation cannot be read: restore its row'),
  });
  changes.subscribe(
    ({ tenantId }) => {
      if (tenantId === PLATFORM) serviceKeys.forget();
    },
    () => serviceKeys.forget(),
  );
  const keyProviders = createKeyProviders(
    masterKey,
    deps.keyProviders ?? createConfiguredProviders(config),
  );
  const lookups = createLookups(connections);
  const attestations = createRowAttestations(serviceKeys);
  const attestedPlanes = createAttestedPlanes({
    ...{ db, attestations, lookups, changes, registry, log, now },
  });
  return {
    config,
    log,
    now,
    /**
     * It never runs back. Tokens that the control plane itself accepts begin and end by it, and what
     * data planes order by its time is dated by it: they refuse a statement older than the last.
     */
    tokenNow: standingClock?.now ?? now,
    /** By which keys begin and end, and what they sign for evidence is dated. */
    keyNow,
    /** By which is deleted what nothing brings back: a short glitch of the clock deletes nothing. */
    settledNow: standingClock?.settled ?? now,
    /** Monotonic milliseconds, by which limits count; a given clock counts as one. */
    limitClock: deps.now ? () => now().getTime() : () => performance.now(),
    standingClock,
    registry,
    changes,
    db,
    masterKey,
    lookups,
    serviceKeys,
    attestations,
    attestedPlanes,
    prepareTargets: attestedPlanes.prepareTargets,
    keyProviders,
    dataKeys: createDataKeys({ db, providers: keyProviders, now }),
    payloadSealingKey: createPayloadSealingKey({ db, masterKey }),
    outbound: createOutboundClient({
      allow: config.outboundAllow ?? null,
      isProduction: config.env === 'production',
    }),
    leaderWork: createLeaderWork({ connections, log, registry }),
    applied: deps.applied ?? NOTHING_TO_WAIT_FOR,
  };
}

/** Authentication: the keys of tokens, administrators' logins, and the guards of routes. */
async function createIdentity(deps: CoreDeps, platform: Platform) {
  const { config, db, lookups, serviceKeys, keyNow, tokenNow, limitClock } = platform;
  const { jwtPrivateKey: privateKey, jwtPublicKey: publicKey, publicUrl } = config;
  const others = config.jwtPreviousPublicKeys?.reveal() ?? [];
  const configured = privateKey && publicKey ? { privateKey, publicKey, others } : undefined;
  const tokenKeys = await createTokenKeys({ serviceKeys, configured, now: keyNow });
  const { superAdminPassword, masterKeyPrevious } = config;
  const superAdmin = await createSuperAdmin(superAdminPassword, deps.masterKey, masterKeyPrevious);
  const adminTokens = createAdminTokens({
    keys: tokenKeys,
    publicUrl,
    lookups,
    superAdmin: superAdmin?.account,
    now: tokenNow,
  });
  const passwordGate = createPasswordGate();
  const adminLogin = await createAdminLogin({
    ...{ lookups, db, tokens: adminTokens, superAdmin, limitClock },
    gate: passwordGate,
  });
  const guards = createGuards({
    authenticateAdmin: adminTokens.authenticate,
    lookups,
    isGenuineToken: platform.attestedPlanes.isGenuine,
    db,
    metricsToken: config.metricsToken?.reveal(),
    isProduction: config.env === 'production',
    now: tokenNow,
  });
  return { tokenKeys, adminTokens, adminLogin, passwordGate, guards };
}

/**
 * The channels to the data planes (bundles, feed) and from them (ingest, payloads), and their
 * registration.
 */
function createChannels(deps: CoreDeps, platform: Platform, features: FeatureList) {
  const { db, changes, serviceKeys, attestations, registry, log, now, tokenNow } = platform;
  const { pool, ingestPool } = deps.connections;
  const compiler = deps.compiler ?? createRegoCompiler();
  const { readSettings, projections } = features;
  const evidenceKeys = () => readEvidenceKeys(serviceKeys);
  const policyRecords = createPolicyRecords({
    compiler,
    attestations,
    findBundleKeys: async () => (await evidenceKeys()).bundle,
  });
  const bundleObserver = createBundleObserver({ db, registry, log, now });
  const bundles = createBundleBuilder({
    db,
    compiler,
    readPolicies: readActivePolicies,
    prepareCheck: policyRecords.prepareBuild,
    readSettings,
    signer: serviceKeys.bundleSigningKey,
    verificationKeys: serviceKeys.bundleVerificationKeys,
    now: tokenNow,
    observer: bundleObserver,
  });
  const feedKeys = serviceKeys.feedVerificationKeys;
  const breaks = createChainBreakRecorder({ db, now });
  const checkpointKeys = () => listKeyEntries(serviceKeys, ['checkpoint-signing']);
  const dataPlanes = createDataPlaneService({
    db,
    bundleKeys: serviceKeys.bundleVerificationKeys,
    feedKeys,
    keyHistory: () => readFollowedHistory(serviceKeys),
    facts: features,
    attestedPlanes: platform.attestedPlanes,
    changes,
    onNewerRules: bundles.noteNewerRevision,
    onAdminHeads: createAdminHeadCheck({ db, breaks, feedKeys }).check,
    onLogWatch: createLogWatchCheck({ db, breaks, checkpointKeys, now }).check,
    onToolPins: createPinnedToolReports({ db, bundles, now }),
    now,
    limitClock: platform.limitClock,
  });
  const ingest = createIngestService({
    ingestPool,
    projections,
    changes,
    breaks,
    violations: createViolationAlerts({ db, now }),
    disputes: createRecordDisputes({ db, signer: createAdminSigner({ db, serviceKeys }) }),
    markForked: dataPlanes.markForked,
  });
  return {
    compiler,
    readSettings,
    policyRecords,
    bundles,
    findBundleWarnings: bundleObserver.findWarnings,
    bundleSource: createBundleSource({ db, changes }),
    feedReader: createFeedReader({
      ...{ db, changes, now: tokenNow },
      clockGeneration: () => platform.standingClock?.generation() ?? 0,
      signer: serviceKeys.feedSigningKey,
      prepareApprovals: createApprovalCheck({ db, attestations, registry, log, now }),
    }),
    logViews: createLogViews({ db, serviceKeys, now: platform.keyNow }),
    facts: features,
    dataPlanes,
    sealedFactTurns: createSealedFactTurns(),
    breaks,
    ingest,
    payloadIngest: createPayloadIngest({
      db,
      dataKeys: platform.dataKeys,
      sealingKey: platform.payloadSealingKey,
      registry,
      log,
      now,
      tokenNow,
      settledNow: platform.settledNow,
    }),
    ledgerPartitions: createLedgerPartitions(pool),
    ledgerStatistics: createLedgerStatistics(deps.connections),
    evidenceKeys,
    verifier: createChainVerifier({ db, breaks, ingest, evidenceKeys, now }),
  };
}
