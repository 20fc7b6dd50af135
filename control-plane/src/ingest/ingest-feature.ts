import type { Feature } from '../platform/feature.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';

export const ingestFeature = (core: {
  ledgerPartitions: LeaderTask;
  ledgerStatistics: LeaderTask;
}): Feature => ({
  tasks: [core.ledgerPartitions, core.ledgerStatistics],
});
