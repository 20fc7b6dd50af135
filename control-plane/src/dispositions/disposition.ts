/** The disposition of an action: which decisions count, and as what. */
import type { DecisionRecord } from '@governance/shared/ledger/ledger-record';
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

/** A tool and the shape of its target. */
export interface Action {
  key: string;
  mcpServer: string;
  toolName: string;
  targetShape: string;
}

/**
 * Enforcement steps that refuse because of the caller or the call's form, whatever the action is.
 */
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
/**
 * The prefix of the reasons of denials because the policy engine was unavailable or its rules were
 * not current.
 */
const OUTAGE = 'opa_';

/**
 * @returns undefined where the decision says nothing about the action: a list, a refused caller, an
 * outage, a person's approval or an exception
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

/** @returns the action that the decision is about */
export function actionOf({ mcp_server, method, tool_name, target }: DecisionRecord): Action {
  const targetShape = shapeOf(target);
  const key = keyOf('action', mcp_server, method, tool_name, targetShape);
  return { key, mcpServer: shown(mcp_server), toolName: shown(tool_name), targetShape };
}

const shown = (name: string): string => name.slice(0, 256).toWellFormed();
