/** Warnings to the operator about keys that cannot be used. */
import { Gauge, type Registry } from 'prom-client';
import { SERVICE_KEY_PURPOSES } from '../platform/key-kinds.ts';
import type { ServiceKeys, UnusableKey } from '../platform/keys.ts';
import { purposeName, UNKNOWN_PURPOSE } from './key-purpose.ts';

type Unusable = Pick<ServiceKeys, 'findUnusable'>;

/** For /ready, which anybody may read: only the number of unusable keys, and their purposes. */
export async function findKeyWarnings(serviceKeys: Unusable): Promise<Record<string, string>> {
  const found = await serviceKeys.findUnusable();
  const names = found.map(({ purpose }) => nameOf(purpose));
  if (names.length === 0) return {};
  return { service_keys: `${names.length} cannot be used: ${[...new Set(names)].join(', ')}` };
}

export function countUnusableKeys(serviceKeys: Unusable, registry: Registry): void {
  new Gauge({
    name: 'governance_service_keys_unusable',
    help: 'Stored service keys that cannot be used, neither for signing nor for verifying',
    labelNames: ['purpose'],
    registers: [registry],
    async collect() {
      const found = await serviceKeys.findUnusable();
      for (const purpose of [...SERVICE_KEY_PURPOSES, null]) {
        const count = found.filter((key) => key.purpose === purpose).length;
        this.set({ purpose: nameOf(purpose) }, count);
      }
    },
  });
}

const nameOf = (purpose: UnusableKey['purpose']): string =>
  purpose === null ? UNKNOWN_PURPOSE : purposeName(purpose);
