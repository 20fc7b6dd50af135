/** What data planes and packages learn about the service's keys. */
import { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import type { KeyHistory } from '@governance/shared/evidence/key-history';
import { type ServiceKeyPurpose, STATEMENT_PURPOSE } from './key-kinds.ts';
import type { DatedKey, ServiceKeys, StoredRotation } from './keys.ts';

/** The purposes that data planes follow. */
const FOLLOWED = ['bundle-signing', 'feed-signing'] as const satisfies ServiceKeyPurpose[];

/** A key as statements and packages name it. */
export function toKeyEntry(key: DatedKey): KeyEntry {
  return {
    kid: key.kid,
    purpose: STATEMENT_PURPOSE[key.purpose],
    jwk: key.publicJwk,
    valid_from: key.from.toISOString(),
    valid_to: key.to?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

/** Keys of these purposes, oldest first, and their rotations. */
export async function readKeyHistory(
  serviceKeys: Pick<ServiceKeys, 'listKeys' | 'listRotations'>,
  purposes: readonly ServiceKeyPurpose[],
): Promise<KeyHistory> {
  const keys = await serviceKeys.listKeys(purposes);
  return toHistory(keys, await serviceKeys.listRotations(purposes));
}

/**
 * The history of the keys that data planes follow. It includes a revoked key even if its row is
 * unusable: data planes trust no key because of this list, but drop those that it calls revoked.
 */
export async function readFollowedHistory(
  serviceKeys: Pick<ServiceKeys, 'listKeysAndRevocations' | 'listRotations'>,
): Promise<KeyHistory> {
  const found = await serviceKeys.listKeysAndRevocations(FOLLOWED);
  // One invalid id would make data planes refuse the whole history; no key of the service has one.
  const keys = found.filter((key) => KeyEntry.safeParse(toKeyEntry(key)).success);
  return toHistory(keys, await serviceKeys.listRotations(FOLLOWED));
}

function toHistory(keys: readonly DatedKey[], rotations: readonly StoredRotation[]): KeyHistory {
  return { keys: keys.map(toKeyEntry), rotations: rotations.map(({ signed }) => signed) };
}
