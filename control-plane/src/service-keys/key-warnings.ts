/** Warnings to the operator about keys that cannot be used, or not yet. */
import { MINUTE_MS } from '@governance/shared/time/durations';
import { Gauge, type Registry } from 'prom-client';
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../platform/keys/key-kinds.ts';
import type { ServiceKeys, UnusableKey } from '../platform/keys/keys.ts';
import { purposeName, UNKNOWN_PURPOSE } from './key-purpose.ts';

type Unusable = Pick<ServiceKeys, 'findUnusable'>;

/** By how much the clocks of whoever checks evidence may differ. */
const SKEW_MS = 5 * MINUTE_MS;

/**
 * What it signs is not found too early. Once it was rotated, the records that it signed while the
 * clock was ahead would be found too late.
 */
const HARMLESS_EARLY: ServiceKeyPurpose = 'batch-signing';

/** For /ready, which anybody may read: only the number of unusable keys, and their purposes. */
export async function findKeyWarnings(
  serviceKeys: Pick<ServiceKeys, 'findUnusable' | 'findSigners'>,
): Promise<Record<string, string>> {
  const found = await serviceKeys.findUnusable();
  const names = found.map(({ purpose }) => nameOf(purpose));
  const signers = await serviceKeys.findSigners();
  const silent = signers.flatMap(({ kid, purpose }) => (kid === null ? [nameOf(purpose)] : []));
  const early = signers.flatMap(({ purpose, beginsInMs }) =>
    beginsInMs > SKEW_MS && purpose !== HARMLESS_EARLY ? [nameOf(purpose)] : [],
  );
  const unusable = `${names.length} cannot be used: ${[...new Set(names)].join(', ')}`;
  const begun = `of ${early.join(', ')}: the key in use begins later by the clock; rotate it`;
  return {
    ...(names.length > 0 && { service_keys: unusable }),
    ...(silent.length > 0 && { signing: `nothing can be signed for: ${silent.join(', ')}` }),
    ...(early.length > 0 && { key_times: begun }),
  };
}

/** For /health: changes reach no data plane where its bundles or feed cannot be signed. */
export async function findKeyHealth(
  serviceKeys: Pick<ServiceKeys, 'findSigners'>,
): Promise<Record<string, string>> {
  const silent = (await serviceKeys.findSigners()).filter(({ kid }) => kid === null);
  const stopped = silent.some(({ purpose }) => TO_DATA_PLANES.includes(purpose));
  return stopped ? { status: 'degraded' } : {};
}

const TO_DATA_PLANES: readonly ServiceKeyPurpose[] = ['bundle-signing', 'feed-signing'];

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
