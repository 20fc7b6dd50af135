import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { detectInjection } from '@governance/shared/detect/inbound/detector';
import { detectInPortions } from '@governance/shared/detect/inbound/value-detector';
import { gatewayAudience } from '@governance/shared/tokens/agent-token';
import type { RaiseAlert } from '../alerts/raise-alert.ts';
import { createBlastRadiusAlert } from '../enforcement/alerts/blast-radius-alert.ts';
import { createPolicyFaultAlert } from '../enforcement/alerts/policy-fault-alert.ts';
import { createWorkflowAlerts } from '../enforcement/alerts/workflow-alerts.ts';
import { createEventPlaces } from '../enforcement/call/event-places.ts';
import { createDlpWatch } from '../enforcement/dlp/dlp-watch.ts';
import { createEnforcer, STEP_LISTS, type StepLists } from '../enforcement/enforcer.ts';
import { createBindingOf } from '../enforcement/holds/call-binding.ts';
import { createCallHolds } from '../enforcement/holds/call-holds.ts';
import type { Holds } from '../enforcement/holds/holds.ts';
import { createResultHolds } from '../enforcement/holds/result-holds.ts';
import { createInboundAlerts } from '../enforcement/inbound/inbound-alerts.ts';
import { createItemScanner } from '../enforcement/inbound/item-scanner.ts';
import { createIdentifierKeys } from '../enforcement/payloads/identifier-keys.ts';
import { createPayloadKeeper } from '../enforcement/payloads/payload-keeper.ts';
import { createProtectMembers } from '../enforcement/payloads/protected-members.ts';
import { createCallRates } from '../enforcement/permission/call-rates.ts';
import type { PinnedTools } from '../enforcement/pins/pinned-tools.ts';
import type { AnswerLimits } from '../enforcement/record/refusals.ts';
import { createRefusedCalls } from '../enforcement/record/refused-calls.ts';
import { createDlpScans } from '../enforcement/scan-thread/dlp-scans.ts';
import { createLargeValues } from '../enforcement/scan-thread/large-values.ts';
import { createScanThreads } from '../enforcement/scan-thread/scan-threads.ts';
import { createDoor } from '../enforcement/steps/authenticate.ts';
import { createAgentTokenVerifier } from '../enforcement/tokens/agent-token.ts';
import { createSessionTokenVerifier } from '../enforcement/tokens/session-token.ts';
import type { ToolCatalogue } from '../enforcement/tools/tool-catalogue.ts';
import { createRefusalLog } from '../gateway/refusal-log.ts';
import { createHeldElsewhere } from '../holds/held-elsewhere.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { OpaServers } from '../opa-server/opa-servers.ts';
import type { PendingWrites } from '../storage/pending-writes.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type { EnforcementPlaneDeps } from './plane-deps.ts';

export type Enforcement = ReturnType<typeof createEnforcement>;

export interface EnforcementParts {
  opa: OpaServers | null;
  catalogue: ToolCatalogue;
  pins: PinnedTools;
  /** For the answers of servers. */
  room: FairBytes;
  limits: AnswerLimits;
  metrics: GatewayMetrics;
  writes: PendingWrites;
  raiseAlert: RaiseAlert;
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

const TOKEN_CACHE = 50_000;
/** The interval of progress notifications to a client whose call waits for a person. */
const PROGRESS_MS = 15_000;
const SESSION_TOKEN_CACHE = 10_000;

/**
 * Builds what judges, records and inspects.
 *
 * @param lists the steps, and how calls are held, where they are not the product's
 */
export function createEnforcement(
  deps: EnforcementPlaneDeps,
  parts: EnforcementParts,
  lists: StepLists & { holds?: Holds } = STEP_LISTS,
) {
  const { catalogue, pins, room, limits, metrics, writes, raiseAlert, now, elapsed } = parts;
  const { ledger, replica, rules, log, findRegion } = deps;
  const findRevision = (tenantId: string) => rules.findActiveRules(tenantId)?.revision ?? null;
  const findSettings = (tenantId: string) => rules.findActiveRules(tenantId)?.settings ?? null;
  const content = createContent(deps, parts, findSettings);
  const { dlp, scans, payloads, protectMembers } = content;
  const steps = createStepDeps(deps, parts, content);
  const { holds, endWaits } = createHolding(deps, parts);
  const refusedCalls = createRefusedCalls({
    ledger,
    writes,
    raiseAlert,
    now,
    count: metrics.rateLimited,
    log,
    ...(deps.workers && { seat: deps.workers }),
  });
  const enforcer = createEnforcer(
    {
      steps,
      audit: {
        ledger,
        refusedCalls,
        findRevision,
        findSettings,
        protectMembers: protectMembers.ofCall,
        findRegion,
        now,
        elapsed,
      },
      outcome: {
        ledger,
        payloads,
        writes,
        now,
        elapsed,
        findRevision,
        onOutcome: metrics.outcome,
      },
      room,
      inspection: {
        limits,
        replica,
        rules,
        catalogue,
        dlp,
        scans,
        pins,
        inbound: {
          report: createInboundAlerts({ raise: raiseAlert, now }),
          detector: { inText: detectInjection, inValue: detectInPortions },
          scanItem: createItemScanner(detectInPortions),
          onFinding: metrics.inboundFinding,
          now,
        },
      },
      ledger,
      payloads,
      log,
      onVerdict: metrics.verdict,
      onInspectionFailed: (tenantId, serverId, why) =>
        raiseAlert(tenantId, {
          alert_type: 'INSPECTION_FAILED',
          severity: 'high',
          title:
            'A message that an MCP server sent unprompted could not be inspected and was dropped',
          details: { mcp_server: serverId, reason: why },
          dedupe_key: `inspection-failed:${serverId}`,
        }),
      limits,
    },
    lists,
    lists.holds ?? holds,
  );
  const stop = async () => {
    await content.stop();
    await refusedCalls.stop();
  };
  return { enforcer, door: createDoor(steps), endWaits, stop };
}

/** What scans, protects and keeps the content of calls. */
function createContent(
  { replica, findDeploymentId, openSealedNow, payloadSpool }: EnforcementPlaneDeps,
  { room, metrics, raiseAlert, now }: EnforcementParts,
  findSettings: (tenantId: string) => BundleSettings | null,
) {
  const identifiers = createIdentifierKeys({
    findSealed: (tenantId) => replica.findIdentifierKey(tenantId),
    findDeploymentId,
    open: openSealedNow,
    raiseAlert,
  });
  const scanThreads = createScanThreads();
  const large = createLargeValues(scanThreads);
  const protectMembers = createProtectMembers(identifiers, large);
  const dlp = createDlpWatch({
    raiseAlert,
    protectRequester: ({ tenantId, requesterId }) =>
      protectMembers.atOnce({
        settings: findSettings(tenantId),
        ask: { args: {} },
        members: { target: '', policy_reason: null, requester_id: requesterId },
      }).requester_id,
    countFinding: metrics.dlpFinding,
    countUnscanned: metrics.dlpUnscanned,
    now,
  });
  const payloads = createPayloadKeeper({
    spool: payloadSpool,
    findDeploymentId,
    findSettings,
    identifiers,
    large,
    room,
    raiseAlert,
    onKept: metrics.payloadKept,
    onNotKept: metrics.payloadNotKept,
  });
  const scans = createDlpScans(scanThreads);
  return { scans, dlp, payloads, protectMembers, stop: () => scanThreads.close() };
}

/** What the steps of a call ask. */
function createStepDeps(
  deps: EnforcementPlaneDeps,
  parts: EnforcementParts,
  { dlp, scans }: Pick<ReturnType<typeof createContent>, 'dlp' | 'scans'>,
) {
  const { opa, catalogue, pins, metrics, raiseAlert, now, elapsed } = parts;
  const { config, replica, rules, log, findRegion, findDenial, askForNews } = deps;
  return {
    opa,
    replica,
    rules,
    rates: createCallRates(elapsed),
    catalogue,
    pins,
    tokens: createAgentTokenVerifier({
      findTokenKeys: (tenantId) => replica.findTokenKeys(tenantId),
      ownKeys: deps.ownTokenKeys,
      now,
      cacheSize: TOKEN_CACHE,
    }),
    sessionTokens: createSessionTokenVerifier({ replica, cacheSize: SESSION_TOKEN_CACHE }),
    workflowAlerts: createWorkflowAlerts({ raiseAlert }),
    eventPlaces: createEventPlaces(),
    audience: gatewayAudience(deps.publicUrl),
    findDeploymentId: deps.findDeploymentId,
    findDenial,
    askForNews,
    argumentLimits: config.argumentLimits,
    dlp,
    scans,
    findRegion,
    now,
    planeNow: deps.planeNow,
    onUnauthenticated: createRefusalLog(log, metrics.unauthenticated, elapsed),
    onBlastRadius: createBlastRadiusAlert(raiseAlert, metrics.blastRadius),
    onPolicyFault: createPolicyFaultAlert(raiseAlert),
  };
}

/** How calls and results wait for people. */
function createHolding(deps: EnforcementPlaneDeps, { pins, now }: EnforcementParts) {
  const { config, ledger, replica } = deps;
  const elsewhere = createHeldElsewhere({
    replica,
    places: deps.heldPlaces,
    // A moment ahead would end what is held elsewhere, and a call be made again.
    now: deps.settledNow ?? now,
  });
  const ofHolds = {
    held: deps.held,
    elsewhere,
    bindingOf: createBindingOf(pins),
    waitMs: config.holdWaitMs,
    progressMs: PROGRESS_MS,
    now,
  };
  const results = createResultHolds({ ...ofHolds, results: deps.heldResults, ledger });
  const holds = createCallHolds({ ...ofHolds, replica, results });
  return { holds, endWaits: elsewhere.endWaits };
}
