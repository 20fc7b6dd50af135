/** An MCP server as the tenant registered it. */
import type { McpServerSetting, ToolActionSetting } from '@governance/shared/bundle-format';
import type { UpstreamCredential } from '@governance/shared/upstream-credential';
import { z } from 'zod';

/**
 * Also the name of a path segment, a prefix of tool names (`server__tool`) and half of a feed key:
 * no underscore, so that the prefix can be told apart, and nothing that needs escaping.
 */
export const ServerId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -, not beginning with -');

interface ServerBase {
  serverId: string;
  enabled: boolean;
  /** What the tenant says of tools, by their names. */
  toolActions: Record<string, ToolActionSetting>;
  createdAt: Date;
  updatedAt: Date;
}

/** A stdio server is a command of a data plane's operator: it is named here, never given. */
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

/** What data planes are told of a server, in the bundle. */
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

/** Shorter secrets would be half told by their end. */
const MIN_HINTED = 16;

/** What helps to recognise a secret without knowing it: its last four characters. */
export function credentialHint(credential: UpstreamCredential | null): string | null {
  if (!credential) return null;
  const secret = credential.type === 'bearer' ? credential.token : credential.value;
  return secret.length < MIN_HINTED ? null : `…${secret.slice(-4)}`;
}

/** Whether a secret given for one address may be sent to the other: only to the same origin. */
export function isSameOrigin(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && new URL(one).origin === new URL(other).origin;
}
