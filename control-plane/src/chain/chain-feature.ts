import type { Feature } from '../platform/feature.ts';
import { createBreakService } from './break-service.ts';
import { chainRoutes } from './chain-routes.ts';
import type { ChainVerifier } from './chain-verification.ts';
import { type ChainWatchDeps, createChainWatch } from './chain-watch.ts';

export const chainFeature = (core: ChainWatchDeps & { verifier: ChainVerifier }): Feature => ({
  routes: [chainRoutes({ breaks: createBreakService(core), verifier: core.verifier })],
  tasks: createChainWatch(core),
});
