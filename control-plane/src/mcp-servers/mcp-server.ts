/** An MCP server as the tenant registered it. */
import type { McpServerSetting, ToolActionSetting } from '@governance/shared/bundle/bundle-format';
import type { UpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { z } from 'zod';

/**
 * Also a path segment, the prefix of tool names (`server__tool`) and half of a feed key: no
 * underscore, so that the prefix is unambiguous, and nothing that needs escaping.
 */
export const ServerId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -, not beginning with -');

interface ServerBase {
  serverId: string;
  enabled: boolean;
  /** `tool_actions` by tool name. */
  toolActions: Record<string, ToolActionSetting>;
  createdAt: Date;
  updatedAt: Date;
}

/** A stdio server has only a name here; a data plane's operator defines its command. */
export type McpServer = ServerBase &
  (
    | { transport: 'streamable-http'; url: string; localName: null }
    | { transport: 'stdio'; url: null; localName: string }
  );

/** A server with its secret, which leaves the control plane only sealed. */
export interface ServerWithCredential {
  server: McpServer;
  credential: UpstreamCredential | null;
}

/** A server as the bundle describes it to data planes. */
export function toSetting(server: McpServer, hasCredential: boolean): McpServerSetting {
  const { serverId, transport, url, localName, toolActions } = server;
  return {
    server_id: serverId,
    transport,
    url,
    local_name: localName,
    has_credential: hasCredential,
    ...(Object.keys(toolActions).length > 0 && { tool_actions: toolActions }),
  };
}

/** The end of a shorter secret would reveal too much. */
const MIN_HINTED = 16;

/** The last four characters, by which people recognise a secret. */
export function credentialHint(credential: UpstreamCredential | null): string | null {
  if (!credential) return null;
  const secret = credential.type === 'bearer' ? credential.token : credential.value;
  return secret.length < MIN_HINTED ? null : `…${secret.slice(-4)}`;
}

/** Whether a secret for one address may be sent to the other: only within one origin. */
export function isSameOrigin(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && new URL(one).origin === new URL(other).origin;
}
