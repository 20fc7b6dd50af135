/**
 * What both planes agree on about a bundle: the names of its members and the settings document. The
 * layout is OPA's (tar.gz with `.manifest`, sources, `policy.wasm`, `data.json` and
 * `.signatures.json`), so that a stock OPA loads, verifies and decides from it.
 */
import { z } from 'zod';
import { BlastRadiusSettings } from '../detect/reach/blast-radius-settings.ts';
import { DataProtectionSettings } from '../settings/data-protection-settings.ts';
import { DlpSettings } from '../settings/dlp-settings.ts';
import { HoldSettings } from '../settings/hold-settings.ts';
import { InboundSettings } from '../settings/inbound-settings.ts';
import { RateLimitSettings } from '../settings/rate-limit-settings.ts';
import { Id, Text } from '../text.ts';

export const BUNDLE_MEMBERS = {
  manifest: '.manifest',
  signatures: '.signatures.json',
  wasm: 'policy.wasm',
  data: 'data.json',
} as const;

/** The only entrypoint: the generated aggregator's verdict. */
export const DECISION_ENTRYPOINT = 'governance/decision';

/** Limits that a data plane enforces before it unpacks anything. */
export const BUNDLE_LIMITS = {
  compressedBytes: 32 * 1024 * 1024,
  unpackedBytes: 128 * 1024 * 1024,
  members: 2_000,
} as const;

/** The action that an administrator set for a tool. */
export const ToolActionSetting = z.object({
  action: z.enum(['read', 'write', 'delete', 'execute']),
  /** A new, later id each time it is set: the setting is for the definition at that time. */
  set_id: Id,
});
export type ToolActionSetting = z.infer<typeof ToolActionSetting>;

/** An MCP server as enforcement knows it; credentials travel separately, sealed. */
export const McpServerSetting = z.object({
  server_id: Text,
  transport: z.enum(['streamable-http', 'stdio']),
  url: Text.nullable(),
  local_name: Text.nullable(),
  /**
   * Whether it has a credential, which comes by the feed: the server is not asked without it.
   * Bundles built before 0.2 do not say.
   */
  has_credential: z.boolean().optional(),
  /** By the tool's name. A data plane that does not know it uses only name and hints. */
  tool_actions: z.record(z.string(), ToolActionSetting).optional(),
});
export type McpServerSetting = z.infer<typeof McpServerSetting>;

/**
 * Enforcement settings, under `settings` of the bundle's data.json. Members are added as features
 * come; a data plane ignores those it does not know.
 */
export const BundleSettings = z.looseObject({
  tenant_id: Id,
  mcp_servers: z.record(z.string(), McpServerSetting),
  /** Disabled and deleted servers: their ids are no names of tools either. */
  other_server_ids: z.array(z.string()).optional(),
  /**
   * Whether the baseline policy *Local models* is active. Bundles of earlier versions do not say.
   */
  local_models_policy: z.boolean().optional(),
  data_protection: DataProtectionSettings.optional(),
  blast_radius: BlastRadiusSettings.optional(),
  inbound: InboundSettings.optional(),
  dlp: DlpSettings.optional(),
  rate_limits: RateLimitSettings.optional(),
  holds: HoldSettings.optional(),
});
export type BundleSettings = z.infer<typeof BundleSettings>;

export const BundleData = z.looseObject({ settings: BundleSettings });

/** `.manifest`. No `wasm` key: released OPA binaries have no wasm engine and refuse one. */
export const BundleManifest = z.looseObject({
  /** The revision as a decimal text. */
  revision: z.string().regex(/^\d+$/),
  roots: z.array(z.string()),
  rego_version: z.union([z.literal(0), z.literal(1)]),
  file_rego_versions: z.record(z.string(), z.union([z.literal(0), z.literal(1)])).optional(),
  metadata: z.looseObject({
    tenant_id: Id,
    entrypoints: z.array(z.string()),
    sources_digest: z.string(),
  }),
});
export type BundleManifest = z.infer<typeof BundleManifest>;
