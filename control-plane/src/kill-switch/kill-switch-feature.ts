import type { Feature } from '../platform/feature.ts';
import { killSwitchRoutes } from './kill-switch-routes.ts';
import { createKillSwitchService, type KillSwitchServiceDeps } from './kill-switch-service.ts';

const FLEET_ORDERS_EVERY_MS = 5_000;

export function killSwitchFeature(core: KillSwitchServiceDeps): Feature {
  const killSwitch = createKillSwitchService(core);
  return {
    routes: [killSwitchRoutes(killSwitch)],
    tasks: [
      { name: 'fleet_kill_switch', everyMs: FLEET_ORDERS_EVERY_MS, run: killSwitch.finishAll },
    ],
    facts: { begin: killSwitch.begin },
  };
}
