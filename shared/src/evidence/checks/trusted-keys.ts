import type { KeyEntry } from '../evidence-keys.ts';
import type { Evidence, Independence } from './evidence.ts';

export interface TrustedKeys {
  /** Null where nothing is trusted but the package itself. */
  keys: readonly KeyEntry[] | null;
  independence: Independence;
}

/** The keys that the reader trusts for a package: those of its anchor, else of its issuer. */
export function findTrustedKeys({ trust, manifest }: Evidence): TrustedKeys {
  const { anchor, issuers } = trust;
  if (anchor) return { keys: anchor.keys, independence: 'independent' };
  const { issuer, tenant_id } = manifest;
  const known = issuers.filter(
    (one) => one.issuer === issuer && (one.tenant_id ?? tenant_id) === tenant_id,
  );
  if (known.length === 0) return { keys: null, independence: 'self-asserted' };
  return { keys: known.flatMap(({ keys }) => keys), independence: 'issuer-anchored' };
}
