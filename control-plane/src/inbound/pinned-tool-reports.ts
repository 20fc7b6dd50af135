/**
 * Stores what heartbeats report about pinned tools. The first data plane that reports a tool
 * determines its pin; a different definition from any data plane is a change. A change is built
 * into a bundle, so that all data planes of the tenant use the same pin. Proven by
 * pinned-tool-routes.pg.test.ts.
 */
import type { ToolPinReport } from '@governance/shared/mcp/tool-pins';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import { pinnedToolStore } from './pinned-tool-store.ts';

export interface PinnedToolReportDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  now(): Date;
}

/** @returns a function that stores one heartbeat's report */
export function createPinnedToolReports({ db, bundles, now }: PinnedToolReportDeps) {
  return async (tenantId: string, pins: readonly ToolPinReport[]): Promise<void> => {
    const hasChanged = await db.inTenant(systemScope(tenantId), (tx) =>
      pinnedToolStore(tx).keepReports(pins, now()),
    );
    // The observer reports a failure and the queue retries; unchanged content builds nothing.
    if (hasChanged) void bundles.requestBuild(tenantId).catch(() => undefined);
  };
}
