/** What holds of calls and of results have in common over the API of escalations. */
import { FEED_START } from '@governance/shared/channel/feed-chain';
import type { TestDataPlane } from '../../../tests/support/a-data-plane.ts';
import type { TestControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createAuditStream } from '../audit/audit-stream.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';

/** @param ofActions with which the names of the hold's audited actions begin */
export function createHoldView(
  { call, controlPlane }: Pick<TestControlPlane, 'call' | 'controlPlane'>,
  { token, tenantId, plane }: { token: string; tenantId: string; plane: TestDataPlane },
  ofActions: string,
) {
  let shipped = 0;
  return {
    ship: async () => {
      await controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(shipped));
      shipped = plane.records.length;
    },
    /** The newest fact of a hold in the feed. */
    fact: async (id: string) => {
      const request = { cursor: 0, digest: FEED_START, limit: 500, waitMs: 0 };
      const { signal } = new AbortController();
      const page = await controlPlane.feedReader.readFeed({ tenantId, ...request, signal });
      return page.entries.findLast(({ key }) => key === `${plane.deploymentId}/${id}`)?.value;
    },
    actions: async () => {
      const { events } = (await call('/api/v1/audit/events', { token })).json();
      const found: { action: string; target: string }[] = events;
      return found.flatMap(({ action, target }) =>
        action?.startsWith(ofActions) ? [`${action} ${target}`] : [],
      );
    },
    /** The stream of events up to the hold's first one. */
    streamed: async (): Promise<string> => {
      const abort = new AbortController();
      const { db, changes } = controlPlane;
      const stream = createAuditStream({ db, changes, keepaliveMs: 15_000, now: () => new Date() });
      const chunks = stream.open({
        scope: systemScope(tenantId),
        lastEventId: 0,
        signal: abort.signal,
        drop: () => undefined,
        authorize: async () => undefined,
      });
      let text = '';
      for await (const chunk of chunks) {
        text += chunk;
        if (text.includes('"event_type":"escalation"')) break;
      }
      abort.abort();
      return text;
    },
  };
}
