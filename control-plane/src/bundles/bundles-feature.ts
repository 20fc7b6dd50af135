import type { Feature } from '../platform/feature.ts';
import type { Guards } from '../platform/http/route-table.ts';
import type { BundleBuilder } from './bundle-builder.ts';
import { bundleRoutes } from './bundle-routes.ts';
import type { BundleSource } from './bundle-source.ts';

const BUILD_MISSING_EVERY_MS = 5 * 60 * 1000;

export interface BundlesCore {
  bundles: Pick<BundleBuilder, 'buildAll'>;
  bundleSource: BundleSource;
  guards: Guards;
}

export const bundlesFeature = ({ bundles, bundleSource, guards }: BundlesCore): Feature => ({
  routes: [bundleRoutes({ bundles: bundleSource, recheck: guards['data-plane'] })],
  // Builds what is missing (a replica died between a change and its bundle, the compiler is newer).
  // Meanwhile data planes continue with what they have.
  tasks: [{ name: 'bundles', everyMs: BUILD_MISSING_EVERY_MS, run: bundles.buildAll }],
});
