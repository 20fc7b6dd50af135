import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import { describe, expect, it } from 'vitest';
import type { Action, ClassifiedCall } from '../call/calls.ts';
import { checkWorkflowActions } from './workflow-actions.ts';

interface Asked {
  server?: string;
  tool?: string;
  action: Action;
  delegators?: string[][];
}

function judge(allowedActions: string[] | null, { server, tool, action, delegators }: Asked) {
  const call = {
    ask: { serverId: server ?? 'files', method: 'tools/call', name: tool ?? 'read_file', args: {} },
    ...{ action, rules: null },
    workflow: { allowedActions, delegatorsActions: delegators ?? [] },
  };
  return checkWorkflowActions(call as unknown as ClassifiedCall).kind;
}

describe('what an agent may do in its workflow', () => {
  it.each([
    [['read'], 'read', 'continue'],
    [['read'], 'write', 'deny'],
    [['files:read'], 'read', 'continue'],
    [['files:read'], 'write', 'deny'],
    [['files/read_file'], 'write', 'continue'],
    [['mail', 'web:*'], 'read', 'deny'],
    [['*'], 'write', 'continue'],
    [[], 'read', 'deny'],
  ] as const)('%j, to %s a file: %s', (allowed, action, kind) => {
    expect(judge([...allowed], { action })).toBe(kind);
  });

  const model = { server: LOCAL_MODELS.serverId, tool: LOCAL_MODELS.toolName };

  it.each([
    [['web:read'], 'read', 'continue'],
    [['web:read'], 'write', 'deny'],
    [['web:write'], 'write', 'deny'],
    [['web:read', 'web:write'], 'write', 'continue'],
    [['web:*'], 'write', 'continue'],
    [['files:*'], 'read', 'deny'],
    [['write'], 'write', 'continue'],
    [[`${LOCAL_MODELS.serverId}:write`], 'write', 'continue'],
    [[LOCAL_MODELS.serverId], 'write', 'continue'],
    [[`${LOCAL_MODELS.serverId}/${LOCAL_MODELS.toolName}`], 'read', 'continue'],
    [[], 'read', 'deny'],
  ] as const)('%j, to %s at a local model: %s', (allowed, action, kind) => {
    expect(judge([...allowed], { ...model, action })).toBe(kind);
    // Of a delegator too.
    expect(judge(['*'], { ...model, action, delegators: [['*'], [...allowed]] })).toBe(kind);
  });
});
