/** The gateway's metadata for OAuth clients (RFC 9728; MCP, authorization). */

import { withoutTrailingSlashes } from '@governance/shared/text';
import { gatewayAudience } from '@governance/shared/tokens/agent-token';

const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp/v1';

/**
 * The paths of the metadata: as the challenge names it, and, where a public address has a path,
 * also where RFC 9728 section 3.1 puts it.
 */
export function metadataPaths(publicUrl: string): string[] {
  const path = withoutTrailingSlashes(new URL(publicUrl).pathname);
  const standard = `/.well-known/oauth-protected-resource${path}/mcp/v1`;
  return [...new Set([METADATA_PATH, standard])];
}

/** The metadata document of the gateway, or of one server of it. */
export function protectedResource(publicUrl: string, serverId: string | null) {
  return {
    resource: gatewayAudience(publicUrl, serverId ?? undefined),
    authorization_servers: [withoutTrailingSlashes(publicUrl)],
    bearer_methods_supported: ['header'],
    resource_name: 'MCP gateway',
  };
}

/**
 * The value of WWW-Authenticate: Basic for an invalid Basic credential, otherwise Bearer, which MCP
 * clients look for.
 *
 * @param fault what is wrong with the credential (RFC 6750 section 3.1), null where there was none
 */
export function challengeHeader(
  publicUrl: string,
  serverId: string | null,
  scheme: 'basic' | 'bearer',
  fault: 'invalid_token' | 'insufficient_scope' | null,
): string {
  if (scheme === 'basic') return 'Basic realm="MCP gateway", charset="UTF-8"';
  const path =
    serverId === null ? METADATA_PATH : `${METADATA_PATH}/${encodeURIComponent(serverId)}`;
  const error = fault === null ? '' : `, error="${fault}"`;
  return `Bearer resource_metadata="${withoutTrailingSlashes(publicUrl)}${path}"${error}`;
}
