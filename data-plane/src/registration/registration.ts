/**
 * One of the operator's tokens: registers this data plane with it, keeps the deployment's token
 * alive, and reports to the core when the control plane revoked it. A tenant that was registered
 * before is served at once, whether the control plane answers or not. Proven by
 * registration.test.ts.
 *
 * Only the control plane's own word revokes: it refused the deployment's token and the operator's
 * token (401), or it knows the deployment as revoked or forked (409). Anything else is an outage,
 * and enforcement continues.
 */
import { proveRegistration } from '@governance/shared/channel/channel-routes';
import type { AboutPlane } from '../identity/identity.ts';
import {
  type BackoffLimits,
  BUSY_BACKOFF,
  backoff,
  createPause,
  SYNC_BACKOFF,
} from '../sync/link/backoff.ts';
import { outageBackoff } from '../sync/link/contact.ts';
import { register, renewToken } from '../sync/link/control-plane-link.ts';
import { LinkError } from '../sync/link/link-error.ts';
import {
  aboutFailure,
  failureCode,
  failureMessage,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../sync/link/sync-failure.ts';
import { createKeyAsks } from './key-asks.ts';
import { createOwnToken, type TokenInUse } from './own-token.ts';
import {
  ConfigurationRefusedError,
  createServedTenant,
  type ServedTenantDeps,
} from './served-tenant.ts';

/** How often a revoked plane asks again. */
const REVOKED_ASK_MS = 60_000;
/** The interval at which due times are checked, since a machine may sleep in between. */
const LOOK_MS = 60_000;
/** Registrations that follow each other sooner than this are spaced out. */
const SOON_MS = 60_000;

export interface RegistrationStatus {
  tenant_id: string | null;
  state: 'registering' | 'registered' | 'refused' | 'stopped';
  token_expires_at: string | null;
  renewals: number;
  failure: SyncFailure | null;
}

export interface RegistrationTiming {
  backoffLimits?: BackoffLimits;
  askAgainMs?: number;
  lookMs?: number;
  /** Spreads renewals and retries; from 0 to 1. */
  random?: () => number;
}

export interface RegistrationOptions
  extends RegistrationTiming,
    Pick<ServedTenantDeps, 'core' | 'client' | 'tokens' | 'root' | 'claim'> {
  about: AboutPlane;
  log: SyncLog;
  now: () => number;
}

export function startRegistration(options: RegistrationOptions) {
  const { core, client, root, log, now } = options;
  const askAgainMs = options.askAgainMs ?? REVOKED_ASK_MS;
  const lookMs = options.lookMs ?? LOOK_MS;
  const pause = createPause();
  const ending = new AbortController();
  let state: RegistrationStatus['state'] = 'registering';
  let lastFailure: SyncFailure | null = null;
  /** Why what was registered before is not served: an unreachable control plane must not hide it. */
  let keptFailure: SyncFailure | null = null;
  const pace = createPace(options.backoffLimits ?? SYNC_BACKOFF, options.random);
  /** Registering may bring news: at the start, and after an unknown key. */
  let wantsNews = true;

  const ownToken = createOwnToken(options);
  const tenant = createServedTenant({
    ...options,
    ownToken,
    onRegistered: () => {
      state = 'registered';
      keptFailure = null;
    },
    onRefused: pause.wake,
  });
  const keyAsks = createKeyAsks(() => {
    wantsNews = true;
    pause.wake();
  });
  const endListening = core.onUnknownKey((tenantId) => {
    if (tenantId === ownToken.current?.tenantId) keyAsks.request();
  });
  const endStatements = core.onStatement(tenant.vouched);

  async function registerNow(): Promise<void> {
    const registration = core.identity.registrationRequest(options.about);
    const proof = proveRegistration(core.identity.signingKey, registration, root);
    const reply = await register(client, root, { registration, proof }, ending.signal);
    wantsNews = false;
    pace.registered();
    await tenant.adopt(reply);
    const { tenant_id: tenantId, deployment_id: deploymentId } = reply;
    log.info({ tenantId, deploymentId }, 'the data plane is registered');
  }

  async function renew(from: TokenInUse): Promise<void> {
    ownToken.renewed(from, await renewToken(client, from.deploymentId, from.token, ending.signal));
  }

  /** @returns how long to wait before the next look, in milliseconds */
  async function step(): Promise<number> {
    await tenant.serveAdopted();
    const { current, due } = ownToken;
    try {
      if (due) await renew(due);
      else if (current === null || ownToken.isRefused || wantsNews) {
        const early = pace.earlyMs();
        if (early > 0) return early;
        await registerNow();
      }
    } catch (error) {
      if (!isDefinite(error)) throw error;
      if (due && failureCode(error) === 'DATA_PLANE_TOKEN_INVALID') {
        ownToken.refuse(due.token);
        return 0;
      }
      if (!due) wantsNews = false;
      note(error);
      return refused(error);
    }
    lastFailure = null;
    const untilRenewal = ownToken.current === null ? 0 : ownToken.current.renewAt - now();
    return Math.max(0, Math.min(untilRenewal, lookMs));
  }

  /** @returns how long to wait before asking again, in milliseconds */
  function refused(error: unknown): number {
    const tenantId = ownToken.current?.tenantId;
    const code = failureCode(error);
    const isTokenInvalid = code === 'DATA_PLANE_TOKEN_INVALID';
    // The operator's token expired, which is news only: the deployment's is still valid.
    if (tenantId !== undefined && isTokenInvalid && !ownToken.isRefused) return lookMs;
    state = 'refused';
    // Each registration creates a token, so an error that a person must fix is retried rarely.
    if (error instanceof ConfigurationRefusedError) return askAgainMs * 10;
    if (tenantId === undefined) return askAgainMs;
    if (code === 'DATA_PLANE_FORKED') core.fork(tenantId, failureMessage(error));
    else core.revoke(tenantId, 'The control plane revoked this data plane.');
    return askAgainMs;
  }

  function note(error: unknown): void {
    const failure = toSyncFailure('register', error, now());
    if (failure.code !== lastFailure?.code) {
      const tenantId = ownToken.current?.tenantId ?? null;
      log.warn({ tenantId, ...aboutFailure(failure) }, 'the data plane could not register');
    }
    lastFailure = failure;
  }

  async function run(): Promise<void> {
    await served;
    let failures = 0;
    while (!ending.signal.aborted) {
      try {
        const wait = await step();
        failures = 0;
        if (wait > 0) await pause.wait(wait);
      } catch (error) {
        if (ending.signal.aborted) break;
        failures++;
        note(error);
        const limits = options.backoffLimits ?? limitsOf(error);
        await pause.wait(backoff(failures, limits, options.random));
      }
    }
  }

  const served = tenant.serveKept().catch((error: unknown) => {
    note(error);
    keptFailure = lastFailure;
  });
  const ended = run();

  return {
    /** Resolves once the stored registration is served; at once where there is none. */
    ready: served,
    status: (): RegistrationStatus => ({
      tenant_id: ownToken.current?.tenantId ?? null,
      state,
      token_expires_at: ownToken.current?.expiresAt ?? null,
      renewals: ownToken.renewals,
      failure: keptFailure ?? lastFailure,
    }),
    stop: async (): Promise<void> => {
      endListening();
      endStatements();
      keyAsks.stop();
      ending.abort();
      pause.wake();
      await ended;
      state = 'stopped';
    },
  };
}

/** Spaces registrations out: a control plane may refuse the tokens that it gives. */
function createPace(limits: BackoffLimits, random: (() => number) | undefined) {
  let soonAgain = 0;
  let registeredAt = Number.NEGATIVE_INFINITY;
  let mayRegisterAt = 0;
  return {
    registered: (): void => {
      const time = performance.now();
      soonAgain = time - registeredAt < SOON_MS ? soonAgain + 1 : 0;
      registeredAt = time;
      if (soonAgain > 0) mayRegisterAt = time + backoff(soonAgain, limits, random);
    },
    /** By how much the next one would be too early, in milliseconds. */
    earlyMs: (): number => mayRegisterAt - performance.now(),
  };
}

/** A first registration must find out itself that the control plane is back. */
function limitsOf(error: unknown): BackoffLimits {
  return outageBackoff(error) ? BUSY_BACKOFF : SYNC_BACKOFF;
}

const DEFINITE = new Set(['DATA_PLANE_TOKEN_INVALID', 'DATA_PLANE_REVOKED', 'DATA_PLANE_FORKED']);

/** Whether an immediate retry would get the same answer. */
function isDefinite(error: unknown): boolean {
  if (error instanceof ConfigurationRefusedError) return true;
  return error instanceof LinkError && DEFINITE.has(error.code);
}
