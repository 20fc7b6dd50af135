/** What an operator is told of keys that cannot be used. */
import { Gauge, type Registry } from 'prom-client';
import { SERVICE_KEY_PURPOSES } from '../platform/key-kinds.ts';
import type { ServiceKeys } from '../platform/keys.ts';
import { purposeName } from './key-purpose.ts';

type Unusable = Pick<ServiceKeys, 'listUnusable'>;

/** For /ready, which anybody may read: counts by purpose. */
export function findKeyWarnings(serviceKeys: Unusable): Record<string, string> {
  const names = serviceKeys.listUnusable().map(({ purpose }) => purposeName(purpose));
  if (names.length === 0) return {};
  return { service_keys: `${names.length} cannot be used: ${[...new Set(names)].join(', ')}` };
}

export function countUnusableKeys(serviceKeys: Unusable, registry: Registry): void {
  new Gauge({
    name: 'governance_service_keys_unusable',
    help: 'Stored service keys that are neither signed with nor accepted',
    labelNames: ['purpose'],
    registers: [registry],
    collect() {
      const found = serviceKeys.listUnusable();
      for (const purpose of SERVICE_KEY_PURPOSES) {
        const count = found.filter((key) => key.purpose === purpose).length;
        this.set({ purpose: purposeName(purpose) }, count);
      }
    },
  });
}
