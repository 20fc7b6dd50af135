/** Composes the modern era. */
import type { KeyObject } from 'node:crypto';
import { createModernHandler, type ModernDeps } from './handler.ts';
import { createListen, type ListenDeps } from './listen.ts';
import { createModernCalls } from './modern-calls.ts';
import { createParkedCalls, type ParkedDeps } from './parked-calls.ts';
import { createModernRequests, type ModernRequestDeps } from './requests.ts';
import { createTaskHandles } from './task-handles.ts';

export type ModernGatewayDeps = Omit<ModernRequestDeps, 'calls'> &
  Omit<ListenDeps, 'calls'> &
  Omit<ModernDeps, 'requests' | 'listen' | 'parked'> &
  ParkedDeps & { taskSecret: KeyObject };

/** Builds the handlers of modern clients. */
export function createModernGateway(deps: ModernGatewayDeps) {
  const parked = createParkedCalls(deps);
  const tasks = createTaskHandles(deps.taskSecret);
  const calls = createModernCalls({ enforcer: deps.enforcer, parked, tasks });
  const listen = createListen({ ...deps, calls });
  const requests = createModernRequests({ ...deps, calls });
  return { handler: createModernHandler({ ...deps, requests, listen, parked }), listen };
}
