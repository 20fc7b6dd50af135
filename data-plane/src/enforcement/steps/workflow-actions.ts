import { coversTool } from '@governance/shared/delegation-scope';
import { coversCall } from '@governance/shared/permission';
import { isList } from '../call-kinds.ts';
import type { Action, Ask, ClassifiedCall, Continue, Deny } from '../calls.ts';
import { proceed } from '../pipeline-builder.ts';
import { denied } from '../workflow-standing.ts';

const ACTIONS: ReadonlySet<string> = new Set<Action>(['read', 'write', 'delete', 'execute']);

/**
 * What an agent may do in its workflow, beside what its roles permit: directly after `classify`,
 * which says what a call does. A list shows and does nothing.
 */
export function checkWorkflowActions<C extends ClassifiedCall>(call: C): Continue<C> | Deny {
  const allowed = call.workflow?.allowedActions ?? null;
  if (allowed === null || isList(call.ask.method)) return proceed(call);
  if (allowed.some((entry) => allowsCall(entry, call.ask, call.action))) return proceed(call);
  return denied('the agent may not do this in its workflow');
}

/** An action, `*`, a permission like `files:read`, or a server or tool. */
function allowsCall(entry: string, { serverId, name }: Ask, action: Action): boolean {
  if (ACTIONS.has(entry)) return entry === action;
  return (
    coversCall(entry, serverId, name, action) || coversTool({ tools: [entry] }, serverId, name)
  );
}
