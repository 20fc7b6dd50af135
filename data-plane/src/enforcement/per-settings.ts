import type { BundleSettings } from '@governance/shared/bundle-format';

/**
 * Remembers what is made of a bundle's settings for as long as the bundle is in force: a scanner, a
 * set of globs. Nothing is made at a call but at the first after a bundle was activated.
 *
 * @param prepare is called once for each bundle; what it throws is thrown at each use
 */
export function perSettings<T>(
  prepare: (settings: BundleSettings) => T,
): (settings: BundleSettings) => T {
  const prepared = new WeakMap<BundleSettings, T>();
  return (settings) => {
    let found = prepared.get(settings);
    if (found === undefined) {
      found = prepare(settings);
      prepared.set(settings, found);
    }
    return found;
  };
}
