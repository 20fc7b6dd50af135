/** Every setting of the data plane, declared once: docs/configuration.md is generated from this. */
import { addressList } from '@governance/shared/outbound/address-policy';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import {
  bareAddress,
  commaList,
  flag,
  Secret,
  setting,
  webAddress,
  wholeNumber,
} from '@governance/shared/settings';
import { z } from 'zod';
import { OPA_SETTINGS } from './opa-server/opa-settings.ts';
import { MESSAGE_NODES } from './upstream/message.ts';

export const MIB = 1024 * 1024;

const inMs = (seconds: number): number => seconds * 1000;

export const GATEWAY_SETTINGS = {
  ...OPA_SETTINGS,
  mcpServersFile: setting({
    name: 'SERVICE_MCP_SERVERS_FILE',
    description:
      'JSON file with the stdio MCP servers that this host may run: {"servers": {name: {command, args, env, cwd, tenants}}}. The API can refer to them by name and never carries a command; `tenants` are the ids of those that may (docs/operations/stdio-servers.md).',
    defaultNote: 'no stdio servers',
    parse: z.string(),
  }),
  localModelUrl: setting({
    name: 'SERVICE_LOCALMODEL_URL',
    description:
      'The local model runtime that /api/v1/localmodel leads to. It is reached without a key, by all tenants of this data plane.',
    default: 'http://localhost:11434',
    parse: webAddress.refine((text) => {
      // That it is none was found already.
      if (!URL.canParse(text)) return true;
      const { username, password, search, hash } = new URL(text);
      return `${username}${password}${search}${hash}` === '';
    }, 'must have neither user, password, query nor fragment'),
  }),
  upstreamAllow: setting({
    name: 'SERVICE_UPSTREAM_ALLOW',
    description:
      'Where MCP servers may be, separated by commas: host names (`.example.com` with all below it), addresses, CIDRs, `global` for every public address, `*` for everything. Link-local addresses and those where clouds give credentials (169.254.169.254) have to be named themselves.',
    defaultNote: '`*`; `global` in production on a data plane of several tenants',
    parse: addressList,
  }),
  upstreamTimeoutMs: setting({
    name: 'SERVICE_UPSTREAM_TIMEOUT_SECONDS',
    description: 'How long an MCP server may take to answer a request.',
    default: '120',
    parse: wholeNumber(1, 3600).transform(inMs),
  }),
  holdWaitMs: setting({
    name: 'SERVICE_HOLD_WAIT_SECONDS',
    description:
      'How long a call that a person has to approve keeps its client waiting. Then it is answered with -32004 and `resolution: "pending"`, and the client asks again. Common clients give up at 60 s.',
    default: '50',
    parse: wholeNumber(1, 3600).transform(inMs),
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
      'Open sessions with HTTP MCP servers, at most: one for each agent and server, another for its clients with MCP Apps, and one for each client that servers may ask something (64 an agent).',
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
  }),
  upstreamMaxProcesses: setting({
    name: 'SERVICE_UPSTREAM_MAX_PROCESSES',
    description:
      'Processes of stdio MCP servers, at most: one for each agent and server, another for its clients with MCP Apps, and one for each client that servers may ask something. One that is in use makes room for nobody; a tenant of several has at most half.',
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
  messageBytes: setting({
    name: 'SERVICE_MCP_MESSAGE_LIMIT_BYTES',
    description: 'The largest JSON-RPC message that passes, in either direction.',
    default: String(4 * MIB),
    parse: wholeNumber(1024, 256 * MIB),
  }),
  messageNodes: setting({
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
  unreadBytesPerAgent: setting({
    name: 'SERVICE_MCP_UNREAD_LIMIT_BYTES',
    description:
      'What may wait for the clients of one agent to read it, in bytes; what is beyond is not sent.',
    default: String(64 * MIB),
    parse: wholeNumber(1024, 1024 * MIB),
  }),
  stallMs: setting({
    name: 'SERVICE_MCP_STALL_SECONDS',
    description:
      "After how long a connection of an agent's client is closed that reads nothing of what waits for it; after 5 s at most where the agent has too much unread.",
    default: '30',
    parse: wholeNumber(1, 3600).transform(inMs),
  }),
  maxSessions: setting({
    name: 'SERVICE_MCP_MAX_SESSIONS',
    description:
      'MCP sessions of clients, at most, and as many streams of `subscriptions/listen`. Where there are several tenants, none takes more than are left free.',
    default: '20000',
    parse: wholeNumber(1, 1_000_000),
  }),
  maxSessionsPerAgent: setting({
    name: 'SERVICE_MCP_MAX_SESSIONS_PER_AGENT',
    description:
      'MCP sessions of one agent, at most, and as many streams; its oldest makes room for a new one.',
    default: '256',
    parse: wholeNumber(1, 1_000_000),
  }),
  sessionIdleMs: setting({
    name: 'SERVICE_MCP_SESSION_IDLE_SECONDS',
    description: 'After how long without a request a session ends, on either side of the gateway.',
    default: '1800',
    parse: wholeNumber(10, 604_800).transform(inMs),
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
  payloadLimitMib: setting({
    name: 'SERVICE_PAYLOAD_LIMIT_MIB',
    description:
      'What payloads that wait for the control plane may take on the data plane’s disk, in MiB. Beyond it calls go on and their payloads are not kept, with an alert.',
    default: '1024',
    parse: wholeNumber(1, 1_000_000),
  }),
  ledgerLimitMib: setting({
    name: 'SERVICE_LEDGER_LIMIT_MIB',
    description:
      "What the data plane's ledger may grow to, in MiB. At 80 % of it, or of the disk, an alert is raised; at 95 % new calls are denied.",
    defaultNote: 'as much as the disk has',
    parse: wholeNumber(16, 1_000_000_000),
  }),
};

/** What can be sent as one (RFC 6750). */
const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

export const CONNECTION_SETTINGS = {
  cpUrl: setting({
    name: 'SERVICE_CP_URL',
    description: 'Where the control plane is: https in production.',
    parse: bareAddress,
  }),
  cpToken: setting({
    name: 'SERVICE_CP_TOKEN',
    description:
      'The token of POST /api/v1/admin/data-plane-tokens; several, one per tenant, separated by commas.',
    parse: commaList
      .refine((tokens) => tokens.length > 0, 'must hold a token')
      .refine(
        (tokens) => tokens.every((token) => BEARER_TOKEN.test(token)),
        'must be tokens as they were issued: letters, digits and -._~+/= alone',
      )
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

/** The settings that the mode `data-plane` reads. */
export const REMOTE_DATA_PLANE_SETTINGS = { ...DATA_PLANE_SETTINGS, ...CONNECTION_SETTINGS };
