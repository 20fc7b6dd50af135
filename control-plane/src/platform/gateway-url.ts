import { gatewayAudience } from '@governance/shared/agent-token';
import type { ControlPlaneConfig } from '../config.ts';

/** Where agents reach the gateway: data planes of their own have addresses that are not known here. */
export function gatewayUrlOf({
  publicUrl,
  deploymentMode,
}: Pick<ControlPlaneConfig, 'publicUrl' | 'deploymentMode'>): string {
  return deploymentMode === 'standalone'
    ? gatewayAudience(publicUrl)
    : 'https://<data plane>/mcp/v1';
}
