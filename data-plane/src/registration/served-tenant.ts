/**
 * The tenant that one of the operator's tokens is for: taken over from the control plane's answer or
 * from what was stored, and handed to the core. Proven by registration.test.ts.
 */
import type { RegistrationAnswer, RegistrationReply } from '@governance/shared/channel/channels';
import { CodedError } from '@governance/shared/coded-error';
import type { DataPlaneCore } from '../core/data-plane-core.ts';
import type { DeploymentTokens } from '../identity/deployment-tokens.ts';
import type { ControlPlaneClient } from '../sync/link/control-plane-client.ts';
import { createControlPlaneLink } from '../sync/link/control-plane-link.ts';
import type { OwnToken } from './own-token.ts';

/** Only a change of the configuration helps. */
export class ConfigurationRefusedError extends CodedError<'deployment_changed' | 'tenant_served'> {}

export interface ServedTenantDeps {
  core: DataPlaneCore;
  client: ControlPlaneClient;
  tokens: DeploymentTokens;
  /** The token that an administrator issued. */
  root: string;
  ownToken: OwnToken;
  /** Whether this token may serve the tenant: not where another one does already. */
  claim: (tenantId: string) => boolean;
  /** Called when the tenant is served, or its refused token is accepted again. */
  onRegistered: () => void;
  /** Called when the control plane refused the token in use. */
  onRefused: () => void;
}

export function createServedTenant(deps: ServedTenantDeps) {
  const { core, root, ownToken } = deps;
  /** The last registration's answer, until its tenant is served. */
  let unserved: RegistrationAnswer | null = null;

  async function serve(answer: RegistrationAnswer): Promise<void> {
    const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
    const link = createControlPlaneLink({
      client: deps.client,
      tenantId,
      deploymentId,
      token: () => ownToken.current?.token ?? root,
      onRefused: (token) => {
        if (ownToken.refuse(token)) deps.onRefused();
      },
    });
    await core.addTenant(answer, link);
    deps.onRegistered();
  }

  async function serveAdopted(): Promise<void> {
    if (!unserved) return;
    const { tenant_id: tenantId } = unserved;
    await serve(unserved);
    unserved = null;
    core.reinstate(tenantId);
  }

  return {
    /**
     * A statement of the tenant's feed was verified. Only who has a live token is given one: a
     * proxy's page, which may have any status, is none.
     *
     * @param stated when it was signed, Unix milliseconds
     * @param generation of the clock that dated it
     */
    vouched: (tenantId: string, stated: number, generation: number): void => {
      if (tenantId !== ownToken.current?.tenantId) return;
      if (!ownToken.vouched(stated, generation)) return;
      deps.onRegistered();
      core.reinstate(tenantId);
    },

    /** Serves what was registered before, whether the control plane answers or not. */
    serveKept: async (): Promise<void> => {
      const found = deps.tokens.findByRoot(root);
      const answer = found && core.identity.findRegistration(found.tenantId);
      if (!found || !answer || !deps.claim(found.tenantId)) return;
      ownToken.use(found.tenantId, answer.deployment_id, found.kept);
      await serve(answer);
    },

    /** Keeps what the control plane answered, and serves it. @throws ConfigurationRefusedError */
    adopt: async ({ token, ...answer }: RegistrationReply): Promise<void> => {
      const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
      const known = core.identity.findRegistration(tenantId)?.deployment_id;
      if (known !== undefined && known !== deploymentId) {
        throw new ConfigurationRefusedError(
          'deployment_changed',
          'the control plane knows this data plane by another id, as one that lost its registration: it has to register anew',
        );
      }
      if (!deps.claim(tenantId)) {
        throw new ConfigurationRefusedError(
          'tenant_served',
          'another token of the list is for the same tenant',
        );
      }
      const wasRefused = ownToken.isRefused;
      ownToken.keep(tenantId, deploymentId, token);
      unserved = answer;
      await serveAdopted();
      if (wasRefused) core.kick(tenantId);
    },

    /**
     * Serves what was adopted and could not be served yet. Registering again would only create
     * another token, whatever keeps the tenant from being served.
     */
    serveAdopted,
  };
}
