import type { KeyObject } from 'node:crypto';
import type { TokenKeysFact } from '@governance/shared/facts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { GatewayConfig } from '../config.ts';
import type { FindDenial, Ledger, Replica } from '../contracts.ts';
import type { DataPlaneCore } from '../core/data-plane-core.ts';
import type { HeldCalls } from '../holds/held-calls.ts';
import type { HeldPlaces } from '../holds/held-places.ts';
import type { DataPlaneIdentity } from '../identity/identity.ts';
import type { PayloadSpool } from '../payloads/payload-spool.ts';
import type { WorkerSessions } from '../workers/worker-sessions.ts';

type OfCore = Pick<
  DataPlaneCore,
  'rules' | 'findDeploymentId' | 'servesSeveral' | 'heldResults' | 'planeNow' | 'askForNews'
> &
  Partial<Pick<DataPlaneCore, 'countTenants'>>;

/** What the enforcing half is built with; what the core and the identity have is described there. */
export interface EnforcementPlaneDeps
  extends OfCore,
    Pick<DataPlaneIdentity, 'openSealed' | 'openSealedNow'> {
  config: GatewayConfig;
  /** Where clients reach the service: issuer of nothing here, but base of audience and metadata. */
  publicUrl: string;
  version: string;
  /** The region of this data plane, as a tenant's list shows it. */
  findRegion(tenantId: string): string | null;
  ledger: Ledger;
  replica: Replica;
  /** What this data plane signs agents' tokens with, where it issues any. */
  ownTokenKeys?: TokenKeysFact;
  /** Why this plane lets nobody of a tenant act now, if so. */
  findDenial: FindDenial;
  /** A private key of this data plane's own, which all its workers have. */
  taskSecret: KeyObject;
  /** Where several processes share the listener: whose a session is, and the way there. */
  workers?: WorkerSessions;
  /** Where several do: which of them holds calls of an agent. */
  heldPlaces?: Pick<HeldPlaces, 'findWorker'>;
  /** Told when `serverReport` or `pinReports` of the tenant says something else. */
  onServerReport?(tenantId: string): void;
  /** Where all workers keep what they have to know together; nothing is kept without it. */
  sharedDir?: string;
  /** Calls that wait for people. */
  held: Pick<HeldCalls, 'join' | 'findCall' | 'findResult' | 'holdsResultOf' | 'endWaits'>;
  /** Takes what is kept of calls beside their records. */
  payloadSpool: Pick<PayloadSpool, 'add'>;
  registry: Registry;
  log: Logger;
  /** Unix milliseconds. */
  now?: () => number;
  /** Between the signs of life of a client's stream, at which it is also checked. */
  keepAliveMs?: number;
}
