/** Composes the proxy of local models: its routes over the enforcer, and the runtime's address. */
import type { GatewayConfig } from '../config.ts';
import type { Enforcer } from '../enforcement/enforcer.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import { createOriginPolicy } from '../gateway/arrival.ts';
import { modelRoutes } from '../models/model-routes.ts';
import { createModelRuntime } from '../models/model-runtime.ts';
import { FairShares } from '../upstream/shares/fair-shares.ts';

export interface LocalModelsDeps {
  enforcer: Pick<Enforcer, 'call'>;
  door: Pick<Door, 'identify'>;
  config: GatewayConfig;
  publicUrl: string;
  /** The interval of eligibility checks of a stream's agent, in milliseconds. */
  checkMs: number;
}

/** As long as a call waits for a slot with an MCP server. */
const WAIT_MS = 2000;

export function createLocalModels({ enforcer, door, config, publicUrl, checkMs }: LocalModelsDeps) {
  const runtime = createModelRuntime({
    url: config.localModelUrl,
    timeoutMs: config.localModelTimeoutMs,
    checkMs,
  });
  return {
    routes: modelRoutes({
      enforcer,
      door,
      runtime,
      shares: new FairShares({
        agent: config.upstreamRequestsPerAgent,
        tenant: config.upstreamRequestsPerTenant,
        way: config.upstreamConnections,
        waitMs: WAIT_MS,
      }),
      origins: createOriginPolicy(publicUrl, config.corsOrigins),
      bodyBytes: config.messageBytes,
      bodyNodes: config.messageNodes,
    }),
    /** Ends what is in progress. */
    close: (): Promise<void> => runtime.close(),
  };
}
