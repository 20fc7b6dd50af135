/** The data plane's settings. Reads the environment once; importing it does nothing. */
import { BlockList, isIP } from 'node:net';
import type { TrustedProxies } from '@governance/shared/client-address';
import { defaultPublicUrl } from '@governance/shared/listening-address';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import {
  commaList,
  flag,
  parseSettings,
  Secret,
  type SettingProblem,
  type SettingValues,
  setting,
  webAddress,
  wholeNumber,
} from '@governance/shared/settings';
import { z } from 'zod';
import type { ArgumentLimits } from './enforcement/steps/arguments.ts';
import {
  findOpaProblems,
  OPA_SETTINGS,
  type OpaConfig,
  readOpaConfig,
} from './opa-server/opa-settings.ts';
import { createAddressPolicy } from './upstream/address-policy.ts';
import { MESSAGE_NODES } from './upstream/message.ts';
import { readStdioServers, type StdioServers } from './upstream/servers-file.ts';

const MIB = 1024 * 1024;

const addresses = commaList.superRefine((entries, context) => {
  try {
    createAddressPolicy(entries);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : 'is not a list of addresses');
  }
});

export const GATEWAY_SETTINGS = {
  ...OPA_SETTINGS,
  mcpServersFile: setting({
    name: 'SERVICE_MCP_SERVERS_FILE',
    description:
      'JSON file with the stdio MCP servers that this host may run: {"servers": {name: {command, args, env, cwd, tenants}}}. The API can refer to them by name and never carries a command; `tenants` are the ids of those that may (docs/operations.md).',
    defaultNote: 'no stdio servers',
    parse: z.string(),
  }),
  upstreamAllow: setting({
    name: 'SERVICE_UPSTREAM_ALLOW',
    description:
      'Where MCP servers may be, separated by commas: host names (`.example.com` with all below it), addresses, CIDRs, `global` for every public address, `*` for everything. Link-local addresses and those where clouds give credentials (169.254.169.254) have to be named themselves.',
    defaultNote: '`*`; `global` in production on a data plane of several tenants',
    parse: addresses,
  }),
  upstreamTimeoutSeconds: setting({
    name: 'SERVICE_UPSTREAM_TIMEOUT_SECONDS',
    description: 'How long an MCP server may take to answer a request.',
    default: '120',
    parse: wholeNumber(1, 3600),
  }),
  upstreamConnections: setting({
    name: 'SERVICE_UPSTREAM_CONNECTIONS',
    description:
      'Connections to one MCP server for requests, at most, shared by all tenants: none takes more than are left free, so one alone has half, and each has 4 in any case. Notifications have as many of their own.',
    default: '1024',
    parse: wholeNumber(1, 65_535),
  }),
  upstreamRequestsPerAgent: setting({
    name: 'SERVICE_UPSTREAM_REQUESTS_PER_AGENT',
    description:
      'Requests of one agent under way with MCP servers, at most. As many wait up to 2 s; what is beyond is answered as busy.',
    default: '256',
    parse: wholeNumber(1, 65_535),
  }),
  upstreamRequestsPerTenant: setting({
    name: 'SERVICE_UPSTREAM_REQUESTS_PER_TENANT',
    description:
      "Requests of a tenant's agents under way with MCP servers, at most; no agent takes more than are left free.",
    default: '1024',
    parse: wholeNumber(1, 65_535),
  }),
  upstreamMaxSessions: setting({
    name: 'SERVICE_UPSTREAM_MAX_SESSIONS',
    description:
      'Open sessions with HTTP MCP servers, at most: one for each agent and server, and one for each client that servers may ask something (64 an agent).',
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
  }),
  upstreamMaxProcesses: setting({
    name: 'SERVICE_UPSTREAM_MAX_PROCESSES',
    description:
      'Processes of stdio MCP servers, at most: one for each agent and server, and one for each client that servers may ask something. One that is in use makes room for nobody; a tenant of several has at most half.',
    default: '64',
    parse: wholeNumber(1, 10_000),
  }),
  upstreamMaxProcessesPerAgent: setting({
    name: 'SERVICE_UPSTREAM_MAX_PROCESSES_PER_AGENT',
    description:
      'Processes of stdio MCP servers that one agent may have for clients of its own, at most: those that servers may ask something have one for each server while their MCP session lasts.',
    default: '8',
    parse: wholeNumber(1, 10_000),
  }),
  mcpMessageLimitBytes: setting({
    name: 'SERVICE_MCP_MESSAGE_LIMIT_BYTES',
    description: 'The largest JSON-RPC message that passes, in either direction.',
    default: String(4 * MIB),
    parse: wholeNumber(1024, 256 * MIB),
  }),
  mcpMessageLimitNodes: setting({
    name: 'SERVICE_MCP_MESSAGE_LIMIT_NODES',
    description:
      'Values and keys in a JSON-RPC message, at most, in either direction: they, and not bytes, are what reading it costs.',
    default: String(MESSAGE_NODES),
    parse: wholeNumber(1000, 10_000_000),
  }),
  mcpArgumentLimitBytes: setting({
    name: 'SERVICE_MCP_ARGUMENTS_LIMIT_BYTES',
    description:
      'Bytes of the arguments of one call as JSON, at most, with what a client gives along when it asks again.',
    default: String(MIB),
    parse: wholeNumber(1024, 64 * MIB),
  }),
  mcpArgumentLimitNodes: setting({
    name: 'SERVICE_MCP_ARGUMENTS_LIMIT_NODES',
    description: 'Values and keys in the arguments of one call, at most.',
    default: '20000',
    parse: wholeNumber(100, 1_000_000),
  }),
  mcpUnreadLimitBytes: setting({
    name: 'SERVICE_MCP_UNREAD_LIMIT_BYTES',
    description:
      'What may wait for the clients of one agent to read it, in bytes; what is beyond is not sent.',
    default: String(64 * MIB),
    parse: wholeNumber(1024, 1024 * MIB),
  }),
  mcpStallSeconds: setting({
    name: 'SERVICE_MCP_STALL_SECONDS',
    description:
      "After how long a connection of an agent's client is closed that reads nothing of what waits for it; after 5 s at most where the agent has too much unread.",
    default: '30',
    parse: wholeNumber(1, 3600),
  }),
  mcpMaxSessions: setting({
    name: 'SERVICE_MCP_MAX_SESSIONS',
    description: 'MCP sessions of clients, at most.',
    default: '20000',
    parse: wholeNumber(1, 1_000_000),
  }),
  mcpMaxSessionsPerAgent: setting({
    name: 'SERVICE_MCP_MAX_SESSIONS_PER_AGENT',
    description: 'MCP sessions of one agent, at most; its oldest makes room for a new one.',
    default: '256',
    parse: wholeNumber(1, 1_000_000),
  }),
  mcpSessionIdleSeconds: setting({
    name: 'SERVICE_MCP_SESSION_IDLE_SECONDS',
    description: 'After how long without a request a session ends, on either side of the gateway.',
    default: '1800',
    parse: wholeNumber(10, 604_800),
  }),
  offlineMaxAgeSeconds: setting({
    name: 'SERVICE_OFFLINE_MAX_AGE_SECONDS',
    description:
      'How long rules and facts are good without a word of the control plane; after that every call is denied.',
    default: '86400',
    parse: wholeNumber(300, 31_536_000),
  }),
  ledgerKeepDays: setting({
    name: 'SERVICE_LEDGER_KEEP_DAYS',
    description:
      'How long records are kept here after the control plane has them, so that one restored from a backup gets them again: longer than the age of your oldest backup.',
    default: '7',
    parse: wholeNumber(1, 3650),
  }),
  ledgerLimitMib: setting({
    name: 'SERVICE_LEDGER_LIMIT_MIB',
    description:
      "What the data plane's ledger may grow to, in MiB. At 80 % of it, or of the disk, an alert is raised; at 95 % new calls are denied.",
    defaultNote: 'as much as the disk has',
    parse: wholeNumber(16, 1_000_000_000),
  }),
};

export const CONNECTION_SETTINGS = {
  cpUrl: setting({
    name: 'SERVICE_CP_URL',
    description: 'Where the control plane is: https in production.',
    parse: webAddress.transform((url) => url.replace(/\/+$/, '')),
  }),
  cpToken: setting({
    name: 'SERVICE_CP_TOKEN',
    description:
      'The token of POST /api/v1/admin/data-plane-tokens; several, one a tenant, separated by commas.',
    parse: commaList
      .refine((tokens) => tokens.length > 0, 'must hold a token')
      .transform((tokens) => tokens.map((token) => new Secret(token))),
  }),
  cpAllowHttp: setting({
    name: 'SERVICE_CP_ALLOW_HTTP',
    description:
      'Production: `true` allows http in SERVICE_CP_URL, for names and for loopback and private addresses.',
    default: 'false',
    parse: flag,
  }),
  region: setting({
    name: 'SERVICE_REGION',
    description: 'Where this data plane is; shown in the list of data planes and in its records.',
    defaultNote: 'the region of the token',
    parse: z.string().max(100),
  }),
  workers: setting({
    name: 'SERVICE_WORKERS',
    description:
      'Processes that share the listener, each a data plane of its own with its own chain: one for each core that is free. Limits of numbers count in each.',
    default: '1',
    parse: wholeNumber(1, 64),
  }),
};

export const DATA_PLANE_SETTINGS = { ...SERVICE_SETTINGS, ...GATEWAY_SETTINGS };

/** What the mode `data-plane` reads. */
export const REMOTE_DATA_PLANE_SETTINGS = { ...DATA_PLANE_SETTINGS, ...CONNECTION_SETTINGS };

/** What the gateway is built with. */
export interface GatewayConfig {
  corsOrigins: readonly string[];
  stdioServers: StdioServers;
  /** Null where it is not set. */
  upstreamAllow: readonly string[] | null;
  isProduction: boolean;
  upstreamTimeoutMs: number;
  upstreamConnections: number;
  upstreamRequestsPerAgent: number;
  upstreamRequestsPerTenant: number;
  upstreamMaxSessions: number;
  upstreamMaxProcesses: number;
  upstreamMaxProcessesPerAgent: number;
  messageBytes: number;
  messageNodes: number;
  /** Of one call, before it is judged. */
  argumentLimits: ArgumentLimits;
  unreadBytesPerAgent: number;
  /** After how long a connection is closed on which nothing moves. */
  stallMs: number;
  maxSessions: number;
  maxSessionsPerAgent: number;
  sessionIdleMs: number;
  offlineMaxAgeSeconds: number;
  ledgerKeepDays: number;
  /** What the ledger's files may take together; null for as much as the disk has. */
  ledgerLimitBytes: number | null;
  /** The OPA server that decides; null for the built-in engine. */
  opa: OpaConfig | null;
}

/**
 * Reads the gateway's slice of the environment, and the servers file that it names.
 *
 * @throws ConfigurationError naming every variable that is wrong
 */
export function readGatewayConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  let stdioServers: StdioServers = new Map();
  const values: SettingValues<typeof DATA_PLANE_SETTINGS> = parseSettings(
    DATA_PLANE_SETTINGS,
    env,
    (parsed): SettingProblem[] => {
      const problems = findOpaProblems(parsed);
      try {
        stdioServers = readStdioServers(parsed.mcpServersFile ?? null);
      } catch (error) {
        const message = error instanceof Error ? error.message : 'cannot be read';
        problems.push({ name: DATA_PLANE_SETTINGS.mcpServersFile.name, message });
      }
      return problems;
    },
  );
  const { environment } = parseSettings({ environment: SERVICE_SETTINGS.env }, env);
  return {
    corsOrigins: values.corsOrigins,
    stdioServers,
    upstreamAllow: values.upstreamAllow ?? null,
    isProduction: environment === 'production',
    upstreamTimeoutMs: values.upstreamTimeoutSeconds * 1000,
    upstreamConnections: values.upstreamConnections,
    upstreamRequestsPerAgent: values.upstreamRequestsPerAgent,
    upstreamRequestsPerTenant: values.upstreamRequestsPerTenant,
    upstreamMaxSessions: values.upstreamMaxSessions,
    upstreamMaxProcesses: values.upstreamMaxProcesses,
    upstreamMaxProcessesPerAgent: values.upstreamMaxProcessesPerAgent,
    messageBytes: values.mcpMessageLimitBytes,
    messageNodes: values.mcpMessageLimitNodes,
    argumentLimits: {
      bytes: values.mcpArgumentLimitBytes,
      nodes: values.mcpArgumentLimitNodes,
    },
    unreadBytesPerAgent: values.mcpUnreadLimitBytes,
    stallMs: values.mcpStallSeconds * 1000,
    maxSessions: values.mcpMaxSessions,
    maxSessionsPerAgent: values.mcpMaxSessionsPerAgent,
    sessionIdleMs: values.mcpSessionIdleSeconds * 1000,
    offlineMaxAgeSeconds: values.offlineMaxAgeSeconds,
    ledgerKeepDays: values.ledgerKeepDays,
    ledgerLimitBytes: values.ledgerLimitMib === undefined ? null : values.ledgerLimitMib * MIB,
    opa: readOpaConfig(values),
  };
}

/** The mode `data-plane`: an address and a token, and nothing else is needed. */
export interface DataPlaneConfig {
  publicUrl: string;
  host: string;
  port: number;
  dataDir: string;
  debug: boolean;
  corsOrigins: string[];
  trustedProxies: TrustedProxies;
  metricsToken: string | undefined;
  isProduction: boolean;
  cpUrl: string;
  cpTokens: Secret[];
  region: string | null;
  /** How many processes share the listener. */
  workers: number;
}

/**
 * @param env usually `process.env`
 * @throws ConfigurationError naming every variable that is wrong or missing
 */
export function readDataPlaneConfig(env: NodeJS.ProcessEnv): DataPlaneConfig {
  const { env: environment, deploymentMode: _mode, ...service } = SERVICE_SETTINGS;
  const values = parseSettings(
    { environment, ...service, ...CONNECTION_SETTINGS },
    env,
    ({ environment: mode, cpUrl, cpToken, cpAllowHttp = false }): SettingProblem[] => [
      ...(cpUrl ? [] : [{ name: 'SERVICE_CP_URL', message: 'is required in this mode' }]),
      ...(cpToken ? [] : [{ name: 'SERVICE_CP_TOKEN', message: 'is required in this mode' }]),
      ...(cpUrl && mode === 'production' ? findPlainHttp(cpUrl, cpAllowHttp) : []),
    ],
  );
  // The check above saw to both.
  if (!values.cpUrl || !values.cpToken) throw new Error('the connection is not configured');
  return {
    publicUrl: values.publicUrl ?? defaultPublicUrl(values.host, values.port),
    host: values.host,
    port: values.port,
    dataDir: values.dataDir,
    debug: values.debug,
    corsOrigins: values.corsOrigins,
    trustedProxies: values.trustedProxies,
    metricsToken: values.metricsToken?.reveal(),
    isProduction: values.environment === 'production',
    cpUrl: values.cpUrl,
    cpTokens: values.cpToken,
    region: values.region ?? null,
    workers: values.workers,
  };
}

/**
 * Checks the modes that are one process.
 *
 * @param mode SERVICE_DEPLOYMENT_MODE
 * @throws ConfigurationError where SERVICE_WORKERS asks for more than one
 */
export function requireOneProcess(
  env: NodeJS.ProcessEnv,
  mode: 'standalone' | 'control-plane',
): void {
  const { workers } = CONNECTION_SETTINGS;
  parseSettings({ workers }, env, (values): SettingProblem[] => {
    if (values.workers === undefined || values.workers === 1) return [];
    const why =
      mode === 'standalone'
        ? 'standalone is one process: run a control plane, and a data plane beside it'
        : 'workers are of data planes: run another control plane on the same database instead';
    return [{ name: workers.name, message: `must be 1 in mode ${mode}; ${why}` }];
  });
}

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv4');
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');
PRIVATE.addAddress('::1', 'ipv6');

/** The token and every fact travel there: in production not in the clear, unless it is wanted so. */
function findPlainHttp(url: string, isAllowed: boolean): SettingProblem[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return [];
  const { name } = CONNECTION_SETTINGS.cpUrl;
  if (!isAllowed) {
    const message = `must be https in production (or set ${CONNECTION_SETTINGS.cpAllowHttp.name}=true)`;
    return [{ name, message }];
  }
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  const isPrivate = family === 0 || PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4');
  return isPrivate ? [] : [{ name, message: 'must be https for a public address' }];
}
