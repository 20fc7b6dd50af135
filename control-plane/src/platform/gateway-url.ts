import { gatewayAudience } from '@governance/shared/tokens/agent-token';

/** Where agents reach the gateway; the addresses of separate data planes are unknown here. */
export function gatewayUrlOf({
  publicUrl,
  deploymentMode,
}: {
  publicUrl: string;
  deploymentMode: 'standalone' | 'control-plane' | 'data-plane';
}): string {
  return deploymentMode === 'standalone'
    ? gatewayAudience(publicUrl)
    : 'https://<data plane>/mcp/v1';
}
