/**
 * The gateway's credential for an MCP server, in place of the agent's own Authorization, opened
 * from the sealed form in the feed.
 */
import {
  SealedUpstreamCredential,
  type UpstreamCredential,
} from '@governance/shared/mcp/upstream-credential';

/** Where a credential belongs; one sealed for another place is refused. */
export interface CredentialPlace {
  tenantId: string;
  deploymentId: string | undefined;
  serverId: string;
  /** The origin of the server's address. */
  origin: string;
}

// Headers that define the request; a credential must not replace them.
const RESERVED =
  /^(accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade|user-agent|x-governance-.*)$/;

/**
 * Opens a sealed credential as a header's name and value.
 *
 * @param openSealed decrypts with this data plane's own key
 * @throws when it cannot be opened, belongs elsewhere, or sets a header that is the gateway's own
 */
export async function openCredentialHeader(
  jwe: string,
  place: CredentialPlace,
  openSealed: (jwe: string) => Promise<string>,
): Promise<[string, string]> {
  const sealed = SealedUpstreamCredential.parse(JSON.parse(await openSealed(jwe)));
  const isHere =
    sealed.tenant_id === place.tenantId &&
    sealed.deployment_id === place.deploymentId &&
    sealed.server_id === place.serverId &&
    (sealed.origin ?? place.origin) === place.origin;
  if (!isHere) throw new Error('the credential was sealed for another place');
  return credentialHeader(sealed.credential);
}

function credentialHeader(credential: UpstreamCredential): [string, string] {
  if (credential.type === 'bearer') return ['authorization', `Bearer ${credential.token}`];
  const name = credential.name.toLowerCase();
  if (RESERVED.test(name)) throw new Error(`a credential must not set the header ${name}`);
  return [name, credential.value];
}
