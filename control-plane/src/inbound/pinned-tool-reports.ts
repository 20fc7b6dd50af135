/**
 * What data planes tell by heartbeat of the tools that they have pinned. The first to tell of a tool
 * says what it is pinned to; another data plane that sees something else has found a change, and
 * so has one that saw its own tool change. A change is built into a bundle, so that all data planes
 * of the tenant hold the tool to the same. Proven by pinned-tool-routes.pg.test.ts.
 */
import type { ToolPinReport } from '@governance/shared/tool-pins';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { systemScope, type TenantDatabase } from '../platform/tenant-scope.ts';
import { pinnedToolStore } from './pinned-tool-store.ts';

export interface PinnedToolReportDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  now(): Date;
}

/** @returns takes what one heartbeat told */
export function createPinnedToolReports({ db, bundles, now }: PinnedToolReportDeps) {
  return async (tenantId: string, pins: readonly ToolPinReport[]): Promise<void> => {
    const hasChanged = await db.inTenant(systemScope(tenantId), (tx) =>
      pinnedToolStore(tx).keepReports(pins, now()),
    );
    // Told by the observer and tried again where it fails; unchanged content builds nothing.
    if (hasChanged) void bundles.requestBuild(tenantId).catch(() => undefined);
  };
}
