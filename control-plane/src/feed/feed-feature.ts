import type { Feature } from '../platform/feature.ts';
import type { Guards } from '../platform/http/route-table.ts';
import { type CompactionDeps, createFeedCompaction } from './feed-compaction.ts';
import type { FeedReader } from './feed-reader.ts';
import { createReadingPlaces, type ReadingPlacesDeps } from './feed-reading-places.ts';
import { feedRoutes } from './feed-routes.ts';

export interface FeedCore extends CompactionDeps, ReadingPlacesDeps {
  db: CompactionDeps['db'] & ReadingPlacesDeps['db'];
  feedReader: FeedReader;
  guards: Guards;
  /** The clock of `feedReader`. */
  tokenNow: () => Date;
}

export const feedFeature = (core: FeedCore): Feature => ({
  routes: [
    feedRoutes({
      feed: core.feedReader,
      places: createReadingPlaces(core),
      recheck: core.guards['data-plane'],
    }),
  ],
  tasks: [createFeedCompaction({ ...core, now: core.tokenNow })],
});
