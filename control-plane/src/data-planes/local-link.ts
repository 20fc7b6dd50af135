/** The channels between the two planes of one process: function calls behind the same interface. */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { LogView } from '@governance/shared/evidence/log-watch';
import type { BundleSource } from '../bundles/bundle-source.ts';
import type { FeedReader } from '../feed/feed-reader.ts';
import type { IngestService } from '../ingest/ingest-service.ts';
import type { PayloadIngest } from '../payloads/payload-ingest.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';
import type { DataPlaneService } from './data-plane-service.ts';

export interface LocalLinkParts {
  tenantId: string;
  deploymentId: string;
  feedReader: Pick<FeedReader, 'readFeed' | 'readSnapshot' | 'recognise'>;
  bundleSource: Pick<BundleSource, 'pullBundle'>;
  heartbeats: Pick<DataPlaneService, 'receiveHeartbeat'>;
  ingest: Pick<IngestService, 'ingestBatch'>;
  payloads: PayloadIngest;
  readLog(tenantId: string, held: { epoch: number; size: number }): Promise<LogView>;
}

/** The link of one tenant to the data plane in this process. */
export function createLocalLink(parts: LocalLinkParts): ControlPlaneLink {
  const { tenantId, deploymentId } = parts;
  return {
    pullBundle: (request) => parts.bundleSource.pullBundle({ tenantId, deploymentId, ...request }),
    readFeed: async (request) => {
      const page = await parts.feedReader.readFeed({ tenantId, deploymentId, ...request });
      const recognition = await parts.feedReader.recognise(tenantId, deploymentId);
      return { ...page, ...recognition };
    },
    readSnapshot: (request) => parts.feedReader.readSnapshot({ tenantId, ...request }),
    heartbeat: async (body) => {
      if (body.deployment_id !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
      return parts.heartbeats.receiveHeartbeat(systemScope(tenantId), body, null);
    },
    shipBatch: (batch) => parts.ingest.ingestBatch(tenantId, deploymentId, batch),
    readLog: ({ epoch, size }) => parts.readLog(tenantId, { epoch, size }),
    shipPayloads: (upload) => parts.payloads.ingest(tenantId, deploymentId, upload),
  };
}
