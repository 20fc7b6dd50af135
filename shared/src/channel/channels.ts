/**
 * The three channels between a control plane and a data plane, as interfaces: two down (bundle,
 * feed), one up (records, with the heartbeat beside it). In standalone mode they are function
 * calls; over a network, HTTP clients implement the same interfaces (channel-routes.ts has what
 * travels there).
 */

import { z } from 'zod';
import type { PayloadReceipt, PayloadUpload } from '../evidence/event-payload.ts';
import { KeyHistory } from '../evidence/key-history.ts';
import { ContradictionReason, type LogView, WatchedNote } from '../evidence/log-watch.ts';
import type { BatchReceipt, SignedBatch } from '../ledger/audit-batch.ts';
import { MAX_PIN_REPORTS, ToolPinReport } from '../mcp/tool-pins.ts';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import type { FeedEntry } from './facts.ts';
import {
  type DatedSnapshotEnd,
  SignedAdminHead,
  type SignedClock,
  type SignedFreshness,
  type SignedRecognition,
} from './signed-statement.ts';

export interface BundleDownload {
  revision: number;
  /** SHA-256 of `bytes`, lower-case hexadecimal; also the entity tag. */
  digest: string;
  /** The tar.gz. */
  bytes: Uint8Array;
}

/** A reader's position in the feed, and what it reports along with it. */
export interface FeedRequest {
  cursor: number;
  /** The feed's digest at the cursor (feed-chain.ts). */
  digest: string;
  limit: number;
  waitMs: number;
  signal: AbortSignal;
  /** Records that wait to be shipped, for the list of data planes. */
  backlog?: number;
}

export interface FeedPage {
  entries: FeedEntry[];
  /** Where to continue: the seq of the last entry, or the given cursor when there is none. */
  cursor: number;
  /** The newest seq of the tenant's feed. */
  head: number;
  statement: SignedFreshness;
  /** The signed head of the admin chain; an older control plane does not send it. */
  admin_head?: SignedAdminHead | undefined;
  /** That the answer is for this deployment; an older control plane does not send it. */
  recognition?: SignedRecognition | undefined;
  /** By which clock `statement` is dated; none before one was accepted. */
  clock?: SignedClock | undefined;
  /** By which clock `recognition` is dated. */
  recognition_clock?: SignedClock | undefined;
}

/**
 * A data plane's view of an MCP server. `failing`: its last request got no answer; `resting`:
 * several consecutive ones got none, so that it is only probed now and then.
 */
export const ReportedHealth = z.enum(['ok', 'failing', 'resting']);
export type ReportedHealth = z.infer<typeof ReportedHealth>;

/** A tenant's registry has 500. */
const ServerIds = z.array(Text.min(1).max(100)).max(500).default([]);

/** Servers with reasons in one report, and characters of each reason. */
export const MAX_SERVER_REASONS = 100;
export const MAX_SERVER_REASON = 200;

const ServerReasons = z
  .record(Text.min(1).max(100), Text.max(MAX_SERVER_REASON))
  .refine((reasons) => Object.keys(reasons).length <= MAX_SERVER_REASONS, {
    message: `must have at most ${MAX_SERVER_REASONS} members`,
  })
  .meta({ maxProperties: MAX_SERVER_REASONS });

/**
 * The server_ids that a data plane has asked, by state; unknown states are left out. `reasons`
 * gives for some of them, by server_id, what went wrong, or what is left out of a server that
 * answers.
 */
export const ServerReport = z.object({
  resting: ServerIds,
  failing: ServerIds,
  ok: ServerIds,
  reasons: ServerReasons.optional(),
});
export type ServerReport = z.infer<typeof ServerReport>;

/**
 * What a data plane remembers of the admin chain, as the control plane signed it: heads, newest
 * first, and two that contradict each other, if it received such.
 */
export const AdminHeadReport = z.object({
  heads: z.array(SignedAdminHead).max(4),
  went_back: z.object({ known: SignedAdminHead, told: SignedAdminHead }).optional(),
});
export type AdminHeadReport = z.infer<typeof AdminHeadReport>;

/** Notes of checkpoints that a heartbeat carries, at most. */
const MAX_WATCHED_NOTES = 2;

/**
 * What a data plane keeps of the tenant's log, as the control plane signed it: the newest
 * checkpoint, the highest ever seen if that differs, and the newest contradictions.
 */
export const LogWatchReport = z.object({
  checkpoints: z.array(WatchedNote).max(MAX_WATCHED_NOTES),
  /** The number of stored checkpoints. */
  contradictions: z.int().nonnegative(),
  contradicted: z
    .object({
      reason: ContradictionReason,
      at: Timestamp,
      known: WatchedNote.nullable(),
      told: WatchedNote.nullable(),
    })
    .optional(),
});
export type LogWatchReport = z.infer<typeof LogWatchReport>;

/** The last record of the stream that the control plane has acknowledged. */
export const ShippedEnd = z.object({
  epoch: Epoch,
  seq: z.int().positive(),
  head: Sha256Hex,
});
export type ShippedEnd = z.infer<typeof ShippedEnd>;

/**
 * The state of shipping: whether records still arrive, and why not. Sent by heartbeat, since a
 * record in a stopped stream would not arrive.
 */
export const StreamReport = z.object({
  /** A code of the data plane's own: newer versions may have others. */
  state: Text.min(1).max(40),
  /** Nothing arrives until a person has acted, or the cause is gone. */
  is_stopped: z.boolean(),
  /** Records that wait to be shipped. */
  backlog: z.int().nonnegative(),
  /** The cause of a stop; otherwise the last failure, null after a success. */
  last_error: z.object({ code: Text.max(100), message: Text.max(500), at: Timestamp }).nullable(),
  /** The first record that does not arrive, if known. */
  stopped_at: z.object({ epoch: Epoch, seq: z.int().positive() }).nullable(),
});
export type StreamReport = z.infer<typeof StreamReport>;

/** A data plane's own id: a UUID, read in lower case like any, once it has registered. */
export const DeploymentName = Text.min(1)
  .max(200)
  .overwrite((name) => (Id.safeParse(name).success ? name.toLowerCase() : name));

const Unreadable = z.unknown().meta({ description: 'Anything else is left out.' });

/**
 * A member that the other side may write in an unknown form: whatever of it cannot be read (or
 * stored) counts as missing, and stops nothing. Its JSON Schema says both.
 */
const ifReadable = <T extends z.ZodType>(member: T) =>
  z.union([member, Unreadable.transform(() => undefined)]).optional();

/**
 * The heartbeat's body (specification 1, section 4), sent every 60 s. Optional members are
 * additions that neither side may rely on: what cannot be read counts as missing.
 */
export const Heartbeat = z.object({
  deployment_id: DeploymentName,
  active_agent_count: z.int().nonnegative(),
  proxy_rpm_1m: z.number().nonnegative(),
  escalations_pending: z.int().nonnegative(),
  opa_bundle_version: Text.max(200),
  uptime_seconds: z.number().nonnegative(),
  mcp_servers: ServerReport.optional(),
  admin_heads: ifReadable(AdminHeadReport),
  shipped: ifReadable(ShippedEnd),
  stream: ifReadable(StreamReport),
  log_watch: ifReadable(LogWatchReport),
  /** Pins that were not reported yet; not stored with the heartbeat. */
  tool_pins: ifReadable(z.array(ToolPinReport).max(MAX_PIN_REPORTS)),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** The answer to a heartbeat. */
export const HeartbeatReceipt = z.object({
  received: z.literal(true),
  timestamp: Timestamp,
  /**
   * The record that the control plane wants next of the data plane's stream. Only a registered
   * deployment is told, and an older control plane tells nobody.
   */
  next: z.object({ epoch: Epoch, seq: z.int().positive() }).optional(),
});
export type HeartbeatReceipt = z.infer<typeof HeartbeatReceipt>;

/**
 * One tenant's channels, as its data plane sees them. All calls reject when the control plane is
 * away.
 */
export interface ControlPlaneLink {
  /** The bundle if its digest is not `digest`, else null after at most `waitMs`. */
  pullBundle(request: {
    digest: string | null;
    waitMs: number;
    signal: AbortSignal;
  }): Promise<BundleDownload | null>;
  /**
   * Entries after the cursor; waits up to `waitMs` for the first one.
   *
   * @throws AppError FEED_RESET when the feed cannot be read on from there: the cursor is older
   *   than what is kept, newer than the head, or its digest is another. Read a snapshot then.
   */
  readFeed(request: FeedRequest): Promise<FeedPage>;
  /** Pages of everything valid now, without tombstones, by (kind, key); then its signed end. */
  readSnapshot(request: {
    signal: AbortSignal;
  }): AsyncGenerator<FeedEntry[], DatedSnapshotEnd, undefined>;
  heartbeat(body: Heartbeat): Promise<HeartbeatReceipt>;
  /** Resolves only after the records are committed. Throws AppError BATCH_CONFLICT on a fork. */
  shipBatch(batch: SignedBatch): Promise<BatchReceipt>;
  /**
   * The present state of the tenant's log, with the proof that it continues the held position (size
   * 0: none). An older control plane does not have it (404).
   */
  readLog(request: { epoch: number; size: number; signal: AbortSignal }): Promise<LogView>;
  /** Payloads of calls, beside the batches. An older control plane does not have it (404). */
  shipPayloads(upload: PayloadUpload): Promise<PayloadReceipt>;
}

/** Members of keys, and signatures. */
const Base64Url = z.string().regex(/^[\w-]{1,1000}$/, 'must be base64url');

const SigningJwk = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: Base64Url,
});
const SealingJwk = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('X25519'),
  x: Base64Url,
});
const TokenJwk = z.looseObject({ kty: z.literal('RSA'), n: Base64Url, e: Base64Url });

/**
 * Lengths of what a data plane says of itself. Its label is the host of its address, of at most 253
 * characters, with a port and the number of a worker.
 */
const MAX_REGISTERED = { region: 100, version: 100, label: 300 } as const;

/** What a data plane states when it registers. Keys are public JWKs. */
export const RegistrationRequest = z.strictObject({
  /** Signs its batches; one writer, one key. */
  signing_key: SigningJwk,
  /** Upstream credentials are sealed to it. */
  sealing_key: SealingJwk,
  /** Signs the agent tokens that it issues itself; RSA with 2048 bits. */
  token_key: TokenJwk,
  region: Text.max(MAX_REGISTERED.region).nullable(),
  version: Text.max(MAX_REGISTERED.version),
  label: Text.max(MAX_REGISTERED.label),
});
export type RegistrationRequest = z.infer<typeof RegistrationRequest>;

/** The request on the wire: with the proof that its sender holds the signing key. */
export const ProvenRegistration = z.strictObject({
  registration: RegistrationRequest,
  /** Ed25519 by signing_key over `registrationProofBytes`, base64url. */
  proof: Base64Url,
});
export type ProvenRegistration = z.infer<typeof ProvenRegistration>;

const PublicKey = z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string() });

/** What it gets: its id, and the keys it may trust. */
export const RegistrationAnswer = z.object({
  tenant_id: Id,
  deployment_id: Id,
  /** Public JWKs (with kid) that may sign this tenant's bundles. */
  bundle_keys: z.array(PublicKey),
  /** Public Ed25519 JWKs (with kid) that may sign statements about feed and bundle. */
  feed_keys: z.array(PublicKey).default([]),
  /** The statements that link those keys. An older control plane sends none. */
  key_history: KeyHistory.optional(),
  /** The region that it is listed with, for its records. An older control plane sends none. */
  region: Text.max(MAX_REGISTERED.region).nullable().optional().catch(undefined),
});
export type RegistrationAnswer = z.infer<typeof RegistrationAnswer>;

/**
 * A token of one deployment: it replaces the token used to register, and is renewed before it ends.
 */
export const DeploymentToken = z.object({
  /** Whoever takes one that no header can carry reaches nobody any more. */
  token: z.string().regex(/^[\x21-\x7e]{1,1000}$/, 'must be up to 1,000 printable characters'),
  expires_at: Timestamp.nullable(),
});
export type DeploymentToken = z.infer<typeof DeploymentToken>;

/** The answer to a registration over the network. */
export const RegistrationReply = RegistrationAnswer.extend({ token: DeploymentToken });
export type RegistrationReply = z.infer<typeof RegistrationReply>;

/**
 * Lets a management request wait until its change is enforced. Standalone uses the data plane's
 * barrier; a control plane alone has nothing to wait for.
 */
export interface AppliedBarrier {
  wait(tenantId: string, target: { feedSeq?: number; bundleRevision?: number }): Promise<void>;
}
