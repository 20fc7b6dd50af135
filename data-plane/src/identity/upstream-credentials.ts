import {
  SealedUpstreamCredential,
  type UpstreamCredential,
} from '@governance/shared/upstream-credential';
import { LRUCache } from 'lru-cache';
import type { Replica } from '../contracts.ts';
import type { DataPlaneIdentity } from './identity.ts';

const OPENED_CREDENTIALS = 1_000;

export interface UpstreamCredentials {
  /**
   * The credential for an MCP server, opened.
   *
   * @returns undefined where the tenant has none for this server
   * @throws when there is one that does not open or was sealed for another place: the call to the
   *   server must not go on without it
   */
  find(tenantId: string, serverId: string): Promise<UpstreamCredential | undefined>;
}

export function createUpstreamCredentials(deps: {
  replica: Pick<Replica, 'findUpstreamCredential'>;
  identity: Pick<DataPlaneIdentity, 'openSealed' | 'findRegistration'>;
}): UpstreamCredentials {
  // By the sealed text, so that a replaced credential is never served from here.
  const opened = new LRUCache<string, SealedUpstreamCredential>({ max: OPENED_CREDENTIALS });

  return {
    find: async (tenantId, serverId) => {
      const jwe = deps.replica.findUpstreamCredential(tenantId, serverId);
      if (jwe === undefined) return undefined;
      let sealed = opened.get(jwe);
      if (!sealed) {
        sealed = SealedUpstreamCredential.parse(JSON.parse(await deps.identity.openSealed(jwe)));
        opened.set(jwe, sealed);
      }
      const deploymentId = deps.identity.findRegistration(tenantId)?.deployment_id;
      if (
        sealed.tenant_id !== tenantId ||
        sealed.server_id !== serverId ||
        sealed.deployment_id !== deploymentId
      ) {
        throw new Error('the credential was sealed for another place');
      }
      return sealed.credential;
    },
  };
}
