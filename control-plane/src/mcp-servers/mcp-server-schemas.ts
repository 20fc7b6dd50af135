/** The wire shapes of /api/v1/mcp-servers, a route added to those of the specification. */
import { ReportedHealth } from '@governance/shared/channel/channels';
import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import { UpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf } from '../platform/http/schemas.ts';
import {
  credentialHint,
  type McpServer,
  ServerId,
  type ServerWithCredential,
} from './mcp-server.ts';
import type { ServerFindings } from './server-health.ts';

const NO_PLAIN_URL = 'must be an http or https URL without user, password and fragment';

/** White space, control characters and `#`: part of a character class. */
const NOT_IN_URLS = '\\s\\u0000-\\u001f\\u007f#\\\\';

/**
 * http or https, without credentials (they have a field of their own) or a fragment. The expression
 * checks the form; only a URL parser knows whether the host is valid.
 */
const ServerUrl = z
  .string()
  .max(2_048)
  .regex(
    new RegExp(`^[Hh][Tt][Tt][Pp][Ss]?://[^/?@${NOT_IN_URLS}]+([/?][^${NOT_IN_URLS}]*)?$`),
    NO_PLAIN_URL,
  )
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    return (
      (url.protocol === 'https:' || url.protocol === 'http:') &&
      url.username === '' &&
      url.password === '' &&
      url.hash === ''
    );
  }, NO_PLAIN_URL)
  .meta({ format: 'uri' });

/** The name of a server in the data plane's own file. */
const LocalName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

// Headers that a credential may not set: the gateway's own, and those that proxies write.
const RESERVED_HEADERS =
  /^(?:accept|connection|content-.*|cookie|expect|forwarded|host|keep-alive|last-event-id|mcp-.*|origin|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|x-forwarded-.*|x-governance-.*)$/i;

const Credential = UpstreamCredential.refine(
  (credential) => credential.type !== 'header' || !RESERVED_HEADERS.test(credential.name),
  { path: ['name'], message: 'is a header that a credential cannot use' },
);

const MAX_TOOL_ACTIONS = 200;
/** As JSON: the audit record of the change holds all of them, and is limited to 256 KiB. */
const MAX_TOOL_ACTIONS_BYTES = 64 * 1024;
const ToolAction = z.enum(['read', 'write', 'delete', 'execute']);

/** By tool name: what the tool does, whatever its name and its server suggest. */
const ToolActions = z
  .record(
    Text.min(1)
      .max(256)
      .refine((name) => name !== '__proto__', 'is not a tool name'),
    ToolAction,
  )
  .refine((actions) => Object.keys(actions).length <= MAX_TOOL_ACTIONS, {
    message: `must have at most ${MAX_TOOL_ACTIONS} members`,
  })
  .refine((actions) => Buffer.byteLength(JSON.stringify(actions)) <= MAX_TOOL_ACTIONS_BYTES, {
    message: `must not be larger than ${MAX_TOOL_ACTIONS_BYTES / 1024} KiB`,
  })
  .meta({ maxProperties: MAX_TOOL_ACTIONS });

export const ServerParams = z.object({ server_id: ServerId });

/** The audit trail and policies use this name for calls to local models. */
const NewServerId = ServerId.refine(
  (id) => id !== LOCAL_MODELS.serverId,
  'is the name of the local models',
);

export const NewServerBody = z.discriminatedUnion('transport', [
  z.strictObject({
    server_id: NewServerId,
    transport: z.literal('streamable-http'),
    url: ServerUrl,
    credential: Credential.nullish(),
    enabled: z.boolean().default(true),
    tool_actions: ToolActions.nullish(),
  }),
  z.strictObject({
    server_id: NewServerId,
    transport: z.literal('stdio'),
    local_name: LocalName,
    enabled: z.boolean().default(true),
    tool_actions: ToolActions.nullish(),
  }),
]);
export type NewServerBody = z.infer<typeof NewServerBody>;

/** The transport cannot change: another transport is another server. */
export const ServerPatchBody = z.strictObject({
  url: ServerUrl.optional(),
  local_name: LocalName.optional(),
  /** null removes the credential. */
  credential: Credential.nullish(),
  enabled: z.boolean().optional(),
  /** Replaces all of it: unnamed entries are removed. null removes all. */
  tool_actions: ToolActions.nullish(),
});
export type ServerPatchBody = z.infer<typeof ServerPatchBody>;

/** The findings of online data planes. */
const HealthBy = z.object({
  /** How many data planes have a finding. */
  total: z.int(),
  /** At most 20, the worst findings first. */
  data_planes: z.array(
    z.object({
      deployment_id: z.string(),
      label: z.string(),
      health: ReportedHealth,
      /** The data plane's detail: why the server fails, or what is left out. */
      reason: z.string().nullable(),
    }),
  ),
});

export const ServerView = z.object({
  server_id: z.string(),
  transport: z.enum(['streamable-http', 'stdio']),
  /** With its query for the role admin alone: some servers take their key there. */
  url: z.string().nullable(),
  local_name: z.string().nullable(),
  enabled: z.boolean(),
  tool_actions: z.record(z.string(), ToolAction),
  credential_configured: z.boolean(),
  /** The secret's last four characters; null where there is none or it is short. */
  credential_hint: z.string().nullable(),
  /** The worst finding of an online data plane; null when none contacted the server recently. */
  health: ReportedHealth.nullable(),
  health_by: HealthBy,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type ServerView = z.infer<typeof ServerView>;

export const ServerListView = listOf('mcp_servers', ServerView);

/** Without fields that only data planes need. */
export function actionsOf({ toolActions }: Pick<McpServer, 'toolActions'>) {
  return Object.fromEntries(
    Object.entries(toolActions).map(([name, { action }]) => [name, action]),
  );
}

/** @param isWhole whether the address is shown with its query, which may contain a key */
export function toServerView(
  { server, credential }: ServerWithCredential,
  { total, planes }: ServerFindings = { total: 0, planes: [] },
  isWhole = false,
): ServerView {
  return {
    server_id: server.serverId,
    transport: server.transport,
    url: (isWhole ? server.url : server.url?.split('?', 1)[0]) ?? null,
    local_name: server.localName,
    enabled: server.enabled,
    tool_actions: actionsOf(server),
    credential_configured: credential !== null,
    credential_hint: credentialHint(credential),
    health: planes[0]?.health ?? null,
    health_by: {
      total,
      data_planes: planes.map(({ deploymentId, label, health, reason }) => ({
        deployment_id: deploymentId,
        label,
        health,
        reason,
      })),
    },
    created_at: server.createdAt.toISOString(),
    updated_at: server.updatedAt.toISOString(),
  };
}
