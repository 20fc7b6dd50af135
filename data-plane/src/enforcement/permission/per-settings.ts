import type { BundleSettings } from '@governance/shared/bundle/bundle-format';

/**
 * Caches what is derived from a bundle's settings (a scanner, a set of globs) while the bundle is
 * in force. It is computed at its first use.
 *
 * @param prepare called once for each bundle; where it throws, it is called again at the next use
 */
export function perSettings<T, S extends object = BundleSettings>(
  prepare: (settings: S) => T,
): (settings: S) => T {
  const prepared = new WeakMap<S, T>();
  return (settings) => {
    let found = prepared.get(settings);
    if (found === undefined) {
      found = prepare(settings);
      prepared.set(settings, found);
    }
    return found;
  };
}
