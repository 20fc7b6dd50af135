import type { Feature } from '../platform/feature.ts';
import { replayRoutes } from './replay-routes.ts';
import { createReplayService, type ReplayServiceDeps } from './replay-service.ts';
import { createReplayTasks, type ReplayTasksDeps } from './replay-tasks.ts';

/** Recorded decisions, evaluated with another text of a policy. */
export const replaysFeature = (core: ReplayServiceDeps & ReplayTasksDeps): Feature => ({
  routes: [replayRoutes(createReplayService(core))],
  tasks: createReplayTasks(core),
});
