import { gatewayAudience } from '@governance/shared/agent-token';

/** Where agents reach the gateway: data planes of their own have addresses that are not known here. */
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
