import type { KeyObject } from 'node:crypto';
import type { TokenKeysFact } from '@governance/shared/channel/facts';
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
  Partial<Pick<DataPlaneCore, 'countTenants' | 'settledNow'>>;

/**
 * The dependencies of the enforcing half; those from the core and the identity are described there.
 */
export interface EnforcementPlaneDeps
  extends OfCore,
    Pick<DataPlaneIdentity, 'openSealed' | 'openSealedNow'> {
  config: GatewayConfig;
  /** The service's address for clients: base of audience and metadata, not an issuer here. */
  publicUrl: string;
  version: string;
  /** The region of this data plane, as a tenant's list shows it. */
  findRegion(tenantId: string): string | null;
  ledger: Ledger;
  replica: Replica;
  /** What this data plane signs agents' tokens with, where it issues any. */
  ownTokenKeys?: TokenKeysFact;
  /** Why this plane denies all calls of a tenant now, if so. */
  findDenial: FindDenial;
  /** A private key of this data plane's own, which all its workers have. */
  taskSecret: KeyObject;
  /** Where several processes share the listener: which one owns a session, and how to reach it. */
  workers?: WorkerSessions;
  /** Where several do: which one holds calls of an agent. */
  heldPlaces?: Pick<HeldPlaces, 'findWorker' | 'giveTurn'>;
  /** Called when `serverReport` or `pinReports` of the tenant has changed. */
  onServerReport?(tenantId: string): void;
  /** The folder of state that all workers share; without it nothing is shared. */
  sharedDir?: string;
  /** Calls that wait for people. */
  held: Pick<HeldCalls, 'join' | 'findCall' | 'findResult' | 'holdsResultOf' | 'endWaits'>;
  /** Stores payloads of calls beside their records. */
  payloadSpool: Pick<PayloadSpool, 'add'>;
  registry: Registry;
  log: Logger;
  /** Unix milliseconds. */
  now?: () => number;
  /** The keep-alive interval of a client's stream, at which its agent is also checked. */
  keepAliveMs?: number;
}
