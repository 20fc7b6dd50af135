/**
 * The three channels between a control plane and a data plane, as interfaces: two down (bundle,
 * feed), one up (records, with the heartbeat beside it). In standalone mode they are function
 * calls; over a network, HTTP clients implement the same interfaces.
 */
import { z } from 'zod';
import type { BatchReceipt, SignedBatch } from './audit-batch.ts';
import type { FeedEntry } from './facts.ts';
import { Id, Text } from './text.ts';

export interface BundleDownload {
  revision: number;
  /** SHA-256 of `bytes`, lower-case hexadecimal; also the entity tag. */
  digest: string;
  /** The tar.gz. */
  bytes: Uint8Array;
}

export interface FeedPage {
  entries: FeedEntry[];
  /** Where to read on from: the seq of the last entry, or the given cursor when there is none. */
  cursor: number;
  /** The newest seq of the tenant's feed. */
  head: number;
}

/** The heartbeat's body (specification 1, section 4), sent every 60 s. */
export const Heartbeat = z.object({
  deployment_id: Id,
  active_agent_count: z.int().nonnegative(),
  proxy_rpm_1m: z.number().nonnegative(),
  escalations_pending: z.int().nonnegative(),
  opa_bundle_version: Text,
  uptime_seconds: z.number().nonnegative(),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** One tenant's channels, as its data plane sees them. All calls reject when the plane is away. */
export interface ControlPlaneLink {
  /** The bundle if its digest is not `digest`, else null after at most `waitMs`. */
  pullBundle(request: {
    digest: string | null;
    waitMs: number;
    signal: AbortSignal;
  }): Promise<BundleDownload | null>;
  /** Entries after the cursor; waits up to `waitMs` for the first one. */
  readFeed(request: {
    cursor: number;
    limit: number;
    waitMs: number;
    signal: AbortSignal;
  }): Promise<FeedPage>;
  heartbeat(body: Heartbeat): Promise<{ received: true; timestamp: string }>;
  /** Resolves only after the records are committed. Throws AppError BATCH_CONFLICT on a fork. */
  shipBatch(batch: SignedBatch): Promise<BatchReceipt>;
}

/** What a data plane tells of itself when it registers. Keys are public JWKs. */
export const RegistrationRequest = z.strictObject({
  signing_key: z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() }),
  sealing_key: z.looseObject({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string() }),
  region: Text.nullable(),
  version: Text,
  label: Text,
});
export type RegistrationRequest = z.infer<typeof RegistrationRequest>;

/** What it learns: who it is, and the keys it may trust. */
export const RegistrationAnswer = z.strictObject({
  tenant_id: Id,
  deployment_id: Id,
  /** Public JWKs (with kid) that may sign this tenant's bundles. */
  bundle_keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string() })),
});
export type RegistrationAnswer = z.infer<typeof RegistrationAnswer>;

/**
 * Lets a management request answer only when what it changed is enforced. Standalone gives the
 * data plane's; a control plane alone has nothing to wait for.
 */
export interface AppliedBarrier {
  wait(tenantId: string, target: { feedSeq?: number; bundleRevision?: number }): Promise<void>;
}
