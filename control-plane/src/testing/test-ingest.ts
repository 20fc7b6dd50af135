/** Ingest and the verification of chains on a database of their own, without an app around them. */
import { testDatabase } from '../../../tests/support/test-database.ts';
import { alertProjection } from '../alerts/alert-projection.ts';
import { createChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createChainVerifier } from '../chain/chain-verification.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';

/**
 * Call it at the top of a test file; it cleans up after the file's last test.
 *
 * @param options.onForked called for each data plane that forked, which is listed as well
 */
export async function testIngest({
  now = () => new Date(),
  onForked = async () => {},
}: {
  now?: () => Date;
  onForked?: (tenantId: string, deploymentId: string) => Promise<void>;
} = {}) {
  const test = await testDatabase();
  const { db, connections, changes } = test;
  const breaks = createChainBreakRecorder({ db, now });
  const forked: string[] = [];
  const ingest = createIngestService({
    projections: [alertProjection],
    ingestPool: connections.ingestPool,
    changes,
    breaks,
    violations: createViolationAlerts({ db, now }),
    markForked: async (tenantId, deploymentId) => {
      forked.push(deploymentId);
      await onForked(tenantId, deploymentId);
    },
  });
  const verifier = createChainVerifier({ db, breaks, ingest, now });
  return { test, ...test, breaks, forked, ingest, verifier };
}
