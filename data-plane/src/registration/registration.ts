/**
 * One of the operator's tokens: registers this data plane with it, keeps the deployment's token
 * alive, and reports to the core when the control plane revoked it. A tenant that was registered before
 * is served at once, whether the control plane answers or not. Proven by registration.test.ts.
 *
 * Only the control plane's own word revokes: it refused the deployment's token and the operator's
 * token (401), or it knows the deployment as revoked or forked (409). Anything else is an outage,
 * and enforcement continues.
 */
import { proveRegistration } from '@governance/shared/channel-routes';
import type { RegistrationAnswer, RegistrationReply } from '@governance/shared/channels';
import { CodedError } from '@governance/shared/coded-error';
import type { DataPlaneCore } from '../core/data-plane-core.ts';
import type { DeploymentTokens, KeptToken } from '../identity/deployment-tokens.ts';
import {
  type BackoffLimits,
  BUSY_BACKOFF,
  backoff,
  createPause,
  SYNC_BACKOFF,
} from '../sync/link/backoff.ts';
import { outageBackoff } from '../sync/link/contact.ts';
import type { ControlPlaneClient } from '../sync/link/control-plane-client.ts';
import { createControlPlaneLink, register, renewToken } from '../sync/link/control-plane-link.ts';
import { LinkError } from '../sync/link/link-error.ts';
import {
  failureCode,
  failureMessage,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../sync/link/sync-failure.ts';

/** How often a revoked plane asks again. */
const REVOKED_ASK_MS = 60_000;
/** At most this often it asks for new keys after a signature by an unknown key. */
const KEYS_ASK_MS = 60_000;
/**
 * A shorter lifetime means that one of the two clocks is wrong: the token is then renewed hourly.
 */
const LEAST_RENEWAL_MS = 5 * 60_000;
const UNSURE_RENEWAL_MS = 60 * 60_000;
/** The interval at which due times are checked, since a machine may sleep in between. */
const LOOK_MS = 60_000;

export interface RegistrationStatus {
  tenant_id: string | null;
  state: 'registering' | 'registered' | 'refused' | 'stopped';
  token_expires_at: string | null;
  renewals: number;
  failure: SyncFailure | null;
}

export interface RegistrationOptions {
  core: DataPlaneCore;
  client: ControlPlaneClient;
  tokens: DeploymentTokens;
  /** The token that an administrator issued. */
  root: string;
  about: { region: string | null; version: string; label: string };
  /** Whether this token may serve the tenant: not where another one does already. */
  claim: (tenantId: string) => boolean;
  log: SyncLog;
  now: () => number;
  random?: () => number;
  backoffLimits?: { first: number; longest: number };
  askAgainMs?: number;
  lookMs?: number;
}

interface Current {
  tenantId: string;
  deploymentId: string;
  token: string;
  expiresAt: string | null;
  renewAt: number;
}

export function startRegistration(options: RegistrationOptions) {
  const { core, client, tokens, root, log, now } = options;
  const random = options.random ?? Math.random;
  const askAgainMs = options.askAgainMs ?? REVOKED_ASK_MS;
  const pause = createPause();
  const ending = new AbortController();
  const status: RegistrationStatus = {
    tenant_id: null,
    state: 'registering',
    token_expires_at: null,
    renewals: 0,
    failure: null,
  };
  let current: Current | null = null;
  /** The control plane itself refused the deployment's token. */
  let isRefused = false;
  /** Registering may bring news: at the start, and after an unknown key. */
  let wantsNews = true;
  /** The last registration's answer, until its tenant is served. */
  let unserved: RegistrationAnswer | null = null;
  let askedForKeysAt = Number.NEGATIVE_INFINITY;

  /**
   * A request that comes too soon is postponed, not dropped: the same key may not be reported
   * again.
   */
  let laterAsk: NodeJS.Timeout | undefined;
  const askForKeys = () => {
    laterAsk = undefined;
    askedForKeysAt = now();
    wantsNews = true;
    pause.wake();
  };
  const endListening = core.onUnknownKey((tenantId) => {
    if (tenantId !== current?.tenantId || laterAsk) return;
    const waitMs = askedForKeysAt + KEYS_ASK_MS - now();
    if (waitMs <= 0) return askForKeys();
    laterAsk = setTimeout(askForKeys, Math.min(waitMs, KEYS_ASK_MS));
    laterAsk.unref();
  });

  function hold(tenantId: string, deploymentId: string, kept: Omit<KeptToken, 'root_hash'>): void {
    const received = Date.parse(kept.received_at);
    const life = kept.expires_at === null ? Infinity : Date.parse(kept.expires_at) - received;
    const half = life / 2 < LEAST_RENEWAL_MS ? UNSURE_RENEWAL_MS : life / 2;
    current = {
      tenantId,
      deploymentId,
      token: kept.token,
      expiresAt: kept.expires_at,
      // At about half of its life, spread so that planes do not renew together.
      renewAt: received + half * (0.9 + 0.2 * random()),
    };
    status.tenant_id = tenantId;
    status.token_expires_at = kept.expires_at;
    core.noteToken(tenantId, { expires_at: kept.expires_at, renewals: status.renewals });
  }

  const linkOf = (tenantId: string, deploymentId: string) =>
    createControlPlaneLink({
      client,
      tenantId,
      deploymentId,
      token: () => current?.token ?? root,
      onRefused: (token) => {
        if (isRefused || token !== current?.token) return;
        isRefused = true;
        pause.wake();
      },
      onAccepted: (token) => {
        if (!isRefused || token !== current?.token) return;
        isRefused = false;
        status.state = 'registered';
        core.reinstate(tenantId);
      },
    });

  async function serve(answer: RegistrationAnswer): Promise<void> {
    const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
    await core.addTenant(answer, linkOf(tenantId, deploymentId));
    status.state = 'registered';
  }

  async function serveKept(): Promise<void> {
    const found = tokens.findByRoot(root);
    const answer = found && core.identity.findRegistration(found.tenantId);
    if (!found || !answer || !options.claim(found.tenantId)) return;
    hold(found.tenantId, answer.deployment_id, found.kept);
    await serve(answer);
  }

  async function registerNow(): Promise<void> {
    const registration = core.identity.registrationRequest(options.about);
    const proof = proveRegistration(core.identity.signingKey, registration, root);
    const reply = await register(client, root, { registration, proof }, ending.signal);
    await adopt(reply);
  }

  async function adopt({ token, ...answer }: RegistrationReply): Promise<void> {
    const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
    const known = core.identity.findRegistration(tenantId)?.deployment_id;
    if (known !== undefined && known !== deploymentId) {
      throw new DefiniteError(
        'deployment_changed',
        'the control plane knows this data plane by another id, as one that lost its registration: it has to register anew',
      );
    }
    if (!options.claim(tenantId)) {
      throw new DefiniteError('tenant_served', 'another token of the list is for the same tenant');
    }
    keep(tenantId, deploymentId, token);
    // Registering again would only create another token, whatever keeps the tenant from being
    // served.
    unserved = answer;
    wantsNews = false;
    await serveAdopted(answer);
  }

  async function serveAdopted(answer: RegistrationAnswer): Promise<void> {
    const wasRefused = isRefused;
    isRefused = false;
    await serve(answer);
    unserved = null;
    core.reinstate(answer.tenant_id);
    if (wasRefused) core.kick(answer.tenant_id);
  }

  function keep(
    tenantId: string,
    deploymentId: string,
    { token, expires_at }: RegistrationReply['token'],
  ): void {
    const kept = { token, expires_at, received_at: new Date(now()).toISOString() };
    // Used from now on, stored or not: with a full disk it is requested again after a restart.
    hold(tenantId, deploymentId, kept);
    try {
      tokens.save(tenantId, root, kept);
    } catch (error) {
      log.warn({ tenantId, reason: failureMessage(error) }, 'the token could not be kept');
    }
  }

  async function renew(held: Current): Promise<void> {
    const token = await renewToken(client, held.deploymentId, held.token, ending.signal);
    status.renewals++;
    keep(held.tenantId, held.deploymentId, token);
  }

  /** @returns how long to wait before the next look, in milliseconds */
  async function step(): Promise<number> {
    if (unserved) await serveAdopted(unserved);
    if (current !== null && !isRefused && now() >= current.renewAt) {
      try {
        await renew(current);
      } catch (error) {
        if (!isDefinite(error)) throw error;
        if (failureCode(error) !== 'DATA_PLANE_TOKEN_INVALID') {
          note(error);
          return refused(error, false);
        }
        isRefused = true;
        return 0;
      }
    } else if (current === null || isRefused || wantsNews) {
      // If only news are wanted, a refusal changes nothing.
      const isOnlyNews = current !== null && !isRefused;
      try {
        await registerNow();
      } catch (error) {
        if (!isDefinite(error)) throw error;
        wantsNews = false;
        note(error);
        return refused(error, isOnlyNews);
      }
    }
    status.failure = null;
    const untilRenewal = current === null ? 0 : current.renewAt - now();
    return Math.max(0, Math.min(untilRenewal, options.lookMs ?? LOOK_MS));
  }

  function refused(error: unknown, isOnlyNews: boolean): number {
    const code = failureCode(error);
    // Each registration creates a token, so an error that a person must fix is retried rarely.
    if (error instanceof DefiniteError) {
      status.state = 'refused';
      return askAgainMs * 10;
    }
    if (current === null) {
      status.state = 'refused';
    } else if (code === 'DATA_PLANE_FORKED') {
      status.state = 'refused';
      core.fork(current.tenantId, failureMessage(error));
    } else if (
      code === 'DATA_PLANE_REVOKED' ||
      (isRefused && code === 'DATA_PLANE_TOKEN_INVALID')
    ) {
      status.state = 'refused';
      core.revoke(current.tenantId, 'The control plane revoked this data plane.');
    } else if (isOnlyNews) {
      // The operator's token expired; the deployment's is still valid.
      return options.lookMs ?? LOOK_MS;
    }
    return askAgainMs;
  }

  function note(error: unknown): void {
    const failure = toSyncFailure('register', error, now());
    const { stage, code, message } = failure;
    if (code !== status.failure?.code) {
      const tenantId = current?.tenantId ?? null;
      log.warn({ tenantId, stage, code, message }, 'the data plane could not register');
    }
    status.failure = failure;
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
        await pause.wait(backoff(failures, limits, random));
      }
    }
  }

  const served = serveKept().catch((error: unknown) => note(error));
  const ended = run();

  return {
    /** Resolves once the stored registration is served; at once where there is none. */
    ready: served,
    status: (): RegistrationStatus => ({ ...status }),
    stop: async (): Promise<void> => {
      endListening();
      clearTimeout(laterAsk);
      ending.abort();
      pause.wake();
      await ended;
      status.state = 'stopped';
    },
  };
}

class DefiniteError extends CodedError<'deployment_changed' | 'tenant_served'> {}

/** A first registration must find out itself that the control plane is back. */
function limitsOf(error: unknown): BackoffLimits {
  return outageBackoff(error) ? BUSY_BACKOFF : SYNC_BACKOFF;
}

const DEFINITE = new Set(['DATA_PLANE_TOKEN_INVALID', 'DATA_PLANE_REVOKED', 'DATA_PLANE_FORKED']);

/** Whether an immediate retry would get the same answer. */
function isDefinite(error: unknown): boolean {
  if (error instanceof DefiniteError) return true;
  return error instanceof LinkError && DEFINITE.has(error.code);
}
