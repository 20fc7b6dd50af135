import type { Feature } from '../platform/feature.ts';
import { agentRoutes } from './agent-routes.ts';
import { type AgentServiceDeps, createAgentService } from './agent-service.ts';

export const agentsFeature = (core: AgentServiceDeps): Feature => ({
  routes: [agentRoutes(createAgentService(core))],
});
