import type { Feature } from '../platform/feature.ts';
import { mcpServerRoutes } from './mcp-server-routes.ts';
import {
  createMcpServerService,
  type McpServerServiceDeps,
  readServerSettings,
} from './mcp-server-service.ts';
import { readOtherServerIds } from './retired-servers.ts';
import { createServerHealth } from './server-health.ts';

export function mcpServersFeature(core: McpServerServiceDeps): Feature {
  const servers = createMcpServerService(core);
  return {
    routes: [mcpServerRoutes(servers, createServerHealth(core))],
    settings: { mcp_servers: readServerSettings, other_server_ids: readOtherServerIds },
    facts: {
      addForDataPlane: servers.sealCredentialsFor,
      takeBack: servers.takeBackCredentials,
    },
  };
}
