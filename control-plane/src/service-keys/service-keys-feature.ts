import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { createRewrap, type RewrapDeps } from '../master-key/rewrap.ts';
import type { Feature } from '../platform/feature.ts';
import type { KeyAnnouncementsDeps } from './key-announcements.ts';
import { createKeyAnnouncements } from './key-announcements.ts';
import { createKeyFacts, type KeyFactsDeps } from './key-facts.ts';
import { keyRoutes } from './key-routes.ts';
import { createKeyService, type KeyServiceDeps } from './key-service.ts';
import { countUnusableKeys } from './key-warnings.ts';

export interface ServiceKeysCore
  extends Pick<KeyServiceDeps, 'tokenKeys' | 'changes'>,
    Omit<KeyFactsDeps, 'publicUrl' | 'tokenKeys'> {
  config: { publicUrl: string };
  db: KeyAnnouncementsDeps['db'];
  masterKey: RewrapDeps['masterKey'];
  registry: RewrapDeps['registry'];
  log: KeyServiceDeps['log'] & RewrapDeps['log'];
  tokenKeys: KeyServiceDeps['tokenKeys'] & KeyFactsDeps['tokenKeys'];
  bundles: Pick<BundleBuilder, 'buildAll'>;
}

/**
 * The service's signing keys: their rotation, and their distribution to tenants and data planes.
 */
export function serviceKeysFeature(core: ServiceKeysCore): Feature {
  const { db, serviceKeys, bundles } = core;
  const readFacts = createKeyFacts({ ...core, publicUrl: core.config.publicUrl });
  const announcements = createKeyAnnouncements({ db, serviceKeys, readFacts });
  const keys = createKeyService({ ...core, announcements, buildAll: bundles.buildAll });
  const rewrap = createRewrap(core);
  countUnusableKeys(serviceKeys, core.registry);
  return {
    routes: [keyRoutes(keys, rewrap)],
    tasks: [announcements.task, rewrap.task],
    facts: announcements.facts,
  };
}
