/** Connects a data plane to its control plane over a network: one registration for each token. */
import type { DataPlaneCore } from '../core/data-plane-core.ts';
import { loadDeploymentTokens } from '../identity/deployment-tokens.ts';
import type { AboutPlane } from '../identity/identity.ts';
import { createControlPlaneClient } from '../sync/link/control-plane-client.ts';
import type { SyncLog } from '../sync/link/sync-failure.ts';
import {
  type RegistrationStatus,
  type RegistrationTiming,
  startRegistration,
} from './registration.ts';

export interface ConnectOptions extends AboutPlane, RegistrationTiming {
  core: DataPlaneCore;
  dataDir: string;
  /** The control plane's address, without a slash at its end. */
  cpUrl: string;
  /** One a tenant, as the operator configured them. */
  tokens: readonly string[];
  log: SyncLog;
}

export type Connections = Awaited<ReturnType<typeof connectControlPlane>>;

/**
 * Serves what was registered before, and registers with each token as soon as the control plane
 * answers. Never rejects because it is away.
 */
export async function connectControlPlane(options: ConnectOptions) {
  const { core, dataDir, cpUrl, region, version, label } = options;
  const client = createControlPlaneClient(cpUrl);
  const tokens = loadDeploymentTokens(dataDir);
  const claims = new Map<string, string>();
  const roots = [...new Set(options.tokens)];
  const registrations = roots.map((root) =>
    startRegistration({
      ...options,
      client,
      tokens,
      root,
      about: { region, version, label },
      claim: (tenantId) => {
        const holder = claims.get(tenantId) ?? root;
        claims.set(tenantId, holder);
        return holder === root;
      },
      // A machine's clock that is set back would put the renewal off until the token has ended.
      now: core.planeNow,
    }),
  );
  await Promise.all(registrations.map(({ ready }) => ready));
  const stopRegistering = async (): Promise<void> => {
    await Promise.all(registrations.map((registration) => registration.stop()));
  };
  return {
    /** One for each token, in their order. */
    status: (): RegistrationStatus[] => registrations.map((registration) => registration.status()),
    /** Registers and renews no more; what is served can still ship its records. */
    stopRegistering,
    /** Ends also what is under way to the control plane. */
    stop: async (): Promise<void> => {
      await stopRegistering();
      await client.close();
    },
  };
}
