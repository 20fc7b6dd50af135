/**
 * The token of a deployment: in use as soon as it arrives, kept for the next start, renewed at about
 * half of its life, and refused only by the control plane's own word. Proven by
 * own-token.test.ts and registration.test.ts.
 */
import type { RegistrationReply } from '@governance/shared/channel/channels';
import type { DataPlaneCore } from '../core/data-plane-core.ts';
import type { DeploymentTokens, KeptToken } from '../identity/deployment-tokens.ts';
import { failureMessage, type SyncLog } from '../sync/link/sync-failure.ts';

/**
 * A shorter lifetime means that one of the two clocks is wrong: the token is then renewed hourly.
 */
const LEAST_RENEWAL_MS = 5 * 60_000;
const UNSURE_RENEWAL_MS = 60 * 60_000;

export interface TokenInUse {
  tenantId: string;
  deploymentId: string;
  token: string;
  expiresAt: string | null;
  receivedAt: number;
  renewAt: number;
}

export type OwnToken = ReturnType<typeof createOwnToken>;

interface OwnTokenOptions {
  core: Pick<DataPlaneCore, 'noteToken'>;
  tokens: DeploymentTokens;
  /** The token that an administrator issued. */
  root: string;
  log: SyncLog;
  now: () => number;
  random?: () => number;
}

export function createOwnToken({ core, tokens, root, log, now, random }: OwnTokenOptions) {
  let current: TokenInUse | null = null;
  let isRefused = false;
  let refusedAt = 0;
  /** The newest statement, and the newest before the refusal. */
  let newest = Number.NEGATIVE_INFINITY;
  let newestBefore = newest;
  /** Of the clock that dated them. */
  let generation = 0;
  let renewals = 0;

  function use(tenantId: string, deploymentId: string, kept: Omit<KeptToken, 'root_hash'>): void {
    const { token, expires_at } = kept;
    const receivedAt = Date.parse(kept.received_at);
    const renewAt = renewalTime(receivedAt, expires_at, random ?? Math.random);
    current = { tenantId, deploymentId, token, expiresAt: expires_at, receivedAt, renewAt };
    isRefused = false;
    core.noteToken(tenantId, { expires_at, renewals });
  }

  /** Used from now on, stored or not: with a full disk it is requested again after a restart. */
  function keep(
    tenantId: string,
    deploymentId: string,
    { token, expires_at }: RegistrationReply['token'],
  ): void {
    const kept = { token, expires_at, received_at: new Date(now()).toISOString() };
    use(tenantId, deploymentId, kept);
    try {
      tokens.save(tenantId, root, kept);
    } catch (error) {
      log.warn({ tenantId, reason: failureMessage(error) }, 'the token could not be kept');
    }
  }

  return {
    /** Null before the first registration. */
    get current() {
      return current;
    },
    /** Whether the control plane itself refused the current token. */
    get isRefused() {
      return isRefused;
    },
    /**
     * The current token where it is to be renewed: also one from before a clock that was ahead was
     * put right, since its time of renewal is as far ahead.
     */
    get due() {
      if (current === null || isRefused) return null;
      return now() >= current.renewAt || now() < current.receivedAt ? current : null;
    },
    get renewals() {
      return renewals;
    },
    /** Uses one that was kept before. */
    use,
    /** Uses a new one, and keeps it. */
    keep,
    renewed: (from: TokenInUse, to: RegistrationReply['token']): void => {
      renewals++;
      keep(from.tenantId, from.deploymentId, to);
    },
    /** @returns whether that is news: the answer may be about an earlier token */
    refuse: (token: string): boolean => {
      if (isRefused || token !== current?.token) return false;
      isRefused = true;
      refusedAt = now();
      newestBefore = newest;
      return true;
    },
    /**
     * The control plane vouched for this data plane, in a statement signed at this time.
     *
     * @param ofClock the generation of the clock that dated it: times of earlier ones say nothing then
     * @returns whether that is news: one from before the refusal may be replayed
     */
    vouched: (stated: number, ofClock = 0): boolean => {
      if (ofClock > generation) {
        generation = ofClock;
        newest = 0;
        newestBefore = 0;
      }
      newest = Math.max(newest, stated);
      if (!isRefused || stated <= newestBefore) return false;
      // Refused later than now: by a clock that was put back since.
      if (stated <= refusedAt && refusedAt <= now()) return false;
      isRefused = false;
      return true;
    },
  };
}

/** About half of its life, spread so that planes do not renew together. */
function renewalTime(received: number, expiresAt: string | null, random: () => number): number {
  const life = expiresAt === null ? Infinity : Date.parse(expiresAt) - received;
  const half = life / 2 < LEAST_RENEWAL_MS ? UNSURE_RENEWAL_MS : life / 2;
  return received + half * (0.9 + 0.2 * random());
}
