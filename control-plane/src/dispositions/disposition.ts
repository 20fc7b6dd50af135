/** The disposition of an action: which decisions count, and how. */
import type { DecisionRecord } from '@governance/shared/ledger-record';
import { keyOf } from '../sessions/session-key.ts';
import { shapeOf } from './target-shape.ts';

export const DISPOSITIONS = ['allowed', 'blocked', 'escalated'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** A decision with the session that it belongs to. Times are Unix milliseconds. */
export interface SessionDecision {
  record: DecisionRecord;
  at: number;
  requesterKey: string;
  session: { id: string; startedAt: number };
}

/** The action: a tool with the shape of its target. */
export interface Action {
  key: string;
  mcpServer: string;
  toolName: string;
  targetShape: string;
}

/** Steps that refuse the caller or the form of the call, whatever the action. */
const ABOUT_THE_CALLER: ReadonlySet<string> = new Set([
  'authenticate',
  'standing',
  'kill-switch',
  'rate-limit',
  'workflow-session',
  'delegation',
  'causal-depth',
  'hops',
  'arguments',
]);
/** Denials by a policy engine that could not be reached. */
const OUTAGE = 'opa_';

/**
 * @returns undefined where the decision says nothing about the action: a list, a caller without
 * any rights, an outage, or a person's approval
 */
export function dispositionOf(record: DecisionRecord): Disposition | undefined {
  if (record.method.endsWith('/list')) return undefined;
  switch (record.policy_result) {
    case 'allow': {
      const isGranted =
        record.v === 2 && (record.grant_id !== null || record.exception_id !== null);
      return isGranted ? undefined : 'allowed';
    }
    case 'escalate':
      return 'escalated';
    default: {
      const isOutage = record.policy_reason?.startsWith(OUTAGE) ?? false;
      return isOutage || ABOUT_THE_CALLER.has(record.decided_by) ? undefined : 'blocked';
    }
  }
}

/** @returns the action that a decision is about */
export function actionOf({ mcp_server, method, tool_name, target }: DecisionRecord): Action {
  const targetShape = shapeOf(target);
  const key = keyOf('action', mcp_server, method, tool_name, targetShape);
  return { key, mcpServer: shown(mcp_server), toolName: shown(tool_name), targetShape };
}

const shown = (name: string): string => name.slice(0, 256).toWellFormed();
