/** Connects a data plane to its control plane over a network: one registration for each token. */

import { loadDeploymentTokens } from '../identity/deployment-tokens.ts';
import { createControlPlaneClient } from '../sync/link/control-plane-client.ts';
import {
  type RegistrationOptions,
  type RegistrationStatus,
  startRegistration,
} from './registration.ts';

export type Connections = Awaited<ReturnType<typeof connectControlPlane>>;

/**
 * Serves what was registered before, and registers with each token as soon as the control plane
 * answers. Never rejects because it is away.
 *
 * @param options.cpUrl the control plane's address, without a slash at its end
 * @param options.tokens one a tenant, as the operator configured them
 */
export async function connectControlPlane(
  options: {
    dataDir: string;
    cpUrl: string;
    tokens: readonly string[];
  } & Pick<RegistrationOptions, 'core' | 'log'> &
    RegistrationOptions['about'] &
    Partial<
      Pick<RegistrationOptions, 'now' | 'backoffLimits' | 'askAgainMs' | 'lookMs' | 'random'>
    >,
) {
  const { dataDir, cpUrl, region, version, label } = options;
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
      now: options.now ?? Date.now,
    }),
  );
  await Promise.all(registrations.map(({ ready }) => ready));
  return {
    /** One for each token, in their order. */
    status: (): RegistrationStatus[] => registrations.map((registration) => registration.status()),
    stop: async (): Promise<void> => {
      await Promise.all(registrations.map((registration) => registration.stop()));
      await client.close();
    },
  };
}
