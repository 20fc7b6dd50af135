/** What OAuth clients are told of the gateway (RFC 9728; MCP, authorization). */
import { gatewayAudience } from '@governance/shared/agent-token';

const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp/v1';

/** The metadata document of the gateway, or of one server of it. */
export function protectedResource(publicUrl: string, serverId: string | null) {
  return {
    resource: gatewayAudience(publicUrl, serverId ?? undefined),
    authorization_servers: [publicUrl.replace(/\/+$/, '')],
    bearer_methods_supported: ['header'],
    resource_name: 'MCP gateway',
  };
}

/**
 * The value of WWW-Authenticate. A wrong Basic is challenged with Basic; everything else with
 * Bearer, which is what MCP clients look for.
 */
export function challengeHeader(
  publicUrl: string,
  serverId: string | null,
  scheme: 'basic' | 'bearer',
  hadCredential: boolean,
): string {
  if (scheme === 'basic') return 'Basic realm="MCP gateway", charset="UTF-8"';
  const path =
    serverId === null ? METADATA_PATH : `${METADATA_PATH}/${encodeURIComponent(serverId)}`;
  const error = hadCredential ? ', error="invalid_token"' : '';
  return `Bearer resource_metadata="${publicUrl.replace(/\/+$/, '')}${path}"${error}`;
}
