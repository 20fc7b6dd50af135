/** The list of features, and what they contribute together. */
import { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { TenantTransaction } from './database/tenant-scope.ts';
import type { Feature, Projection, SealingTarget } from './feature.ts';

export interface FeatureList {
  /** @throws Error when another feature has a setting of the same name */
  add(feature: Feature): void;
  all(): readonly Feature[];
  /** Projections of every feature, in the order of the list; grows with it. */
  projections: readonly Projection[];
  /** A tenant's enforcement settings, as they go into data.json and as policies read them. */
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  beginTenant(tx: TenantTransaction): Promise<void>;
  publishFacts(): Promise<void>;
  addFactsForDataPlane(tx: TenantTransaction, dataPlane: SealingTarget): Promise<void>;
  takeBackFacts(tenantId: string): Promise<void>;
  /** Ends what names a server, in the transaction that deletes it. */
  endWithServer(tx: TenantTransaction, serverId: string, at: Date): Promise<void>;
}

/** Features are added while the control plane is composed, before any other method is called. */
export function createFeatureList(): FeatureList {
  const features: Feature[] = [];
  const projections: Projection[] = [];
  const settingNames = new Set(['tenant_id']);
  return {
    projections,
    all: () => features,
    add: (feature) => {
      for (const name of Object.keys(feature.settings ?? {})) {
        if (settingNames.has(name)) throw new Error(`two settings are named ${name}`);
        settingNames.add(name);
      }
      projections.push(...(feature.projections ?? []));
      features.push(feature);
    },
    readSettings: async (tx) => {
      const settings: Record<string, unknown> = { tenant_id: tx.scope.tenantId };
      for (const feature of features) {
        for (const [name, read] of Object.entries(feature.settings ?? {})) {
          settings[name] = await read(tx);
        }
      }
      return BundleSettings.parse(settings);
    },
    beginTenant: async (tx) => {
      for (const { facts } of features) await facts?.begin?.(tx);
    },
    publishFacts: async () => {
      for (const { facts } of features) await facts?.publish?.();
    },
    addFactsForDataPlane: async (tx, dataPlane) => {
      for (const { facts } of features) await facts?.addForDataPlane?.(tx, dataPlane);
    },
    takeBackFacts: async (tenantId) => {
      for (const { facts } of features) await facts?.takeBack?.(tenantId);
    },
    endWithServer: async (tx, serverId, at) => {
      for (const feature of features) await feature.endWithServer?.(tx, serverId, at);
    },
  };
}
