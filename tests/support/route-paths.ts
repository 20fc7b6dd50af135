/** Paths for tests that iterate over the whole route table. */
import type { RouteEntry } from '@governance/control-plane/platform/http/route-table';
import { uuidv7 } from '@governance/shared/ids';

/** Routes whose answer does not end. */
export const ENDLESS_ROUTE = '/api/v1/audit/stream';

/** The routes of the product, without the pages that describe them. */
export function productRoutes(table: readonly RouteEntry[]): RouteEntry[] {
  return table.filter(({ url }) => !url.startsWith('/docs'));
}

/** `GET /api/v1/agents`: how a test names a route. */
export function routeName({ method, url }: RouteEntry): string {
  return `${method} ${url}`;
}

/** A path whose ids have the right form; unless given, they name nothing. */
export function routePath(
  { url }: RouteEntry,
  ids: { tenantId: string; deploymentId: string },
): string {
  return url
    .replace(':tenant_id', ids.tenantId)
    .replace(':deployment_id', ids.deploymentId)
    .replace(':server_id', 'none')
    .replace(':purpose', 'feed')
    .replace(/:\w+/g, () => uuidv7());
}
