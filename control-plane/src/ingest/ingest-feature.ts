import type { Feature } from '../platform/feature.ts';
import type { LeaderTask } from '../platform/leader.ts';

export const ingestFeature = (core: { ledgerPartitions: LeaderTask }): Feature => ({
  tasks: [core.ledgerPartitions],
});
