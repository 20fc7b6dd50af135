import type { PolicyReason } from '@governance/policies/contract';
import { BLAST_RADIUS } from '@governance/shared/channel/exceptions';
import type { ExceptionFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it, vi } from 'vitest';
import type { ActiveRules } from '../../contracts.ts';
import { askedBy } from '../../holds/asked-reasons.ts';
import type { Escalate, JudgedCall, ScannedCall, StepResult } from '../call/calls.ts';
import { limitBlastRadius } from './blast-radius.ts';
import { judgeAgain } from './judge-again.ts';
import { evaluatePolicy } from './policy.ts';

const reason = (rule: PolicyReason['rule'], policy_id = 'p'): PolicyReason => ({
  policy_id,
  policy: 'Policy',
  rule,
  message: `says ${rule}`,
});

const rulesThat = (decision: PolicyReason['rule']) =>
  ({
    revision: 1,
    digest: 'd',
    settings: { tenant_id: uuidv7(), mcp_servers: {} },
    engine: {
      evaluate: () => ({ ok: true, verdict: { decision, reasons: [reason(decision)] } }),
    },
  }) as unknown as ActiveRules;

const agent = { id: uuidv7(), permits: [], role_names: [] };
const aCall = (name: string, action: string, args: object, more: object = {}): ScannedCall =>
  ({
    id: uuidv7(),
    caller: { tenantId: uuidv7(), requesterId: null },
    agent,
    ask: { serverId: 'files', method: 'tools/call', name, args },
    rules: rulesThat('allow'),
    action,
    target: '/a',
    dlp: { findings: [], action: null },
    ...more,
  }) as unknown as ScannedCall;

const CONFIG = { path: '/etc/hosts', content: 'x' };
const onBlastRadius = vi.fn();
const exceptions = { replica: { findExceptions: () => [] as ExceptionFact[] }, planeNow: () => 0 };
const policyDeps = {
  opa: null,
  ...exceptions,
  findDeploymentId: () => 'plane',
  findRegion: () => null,
  now: () => 0,
} as unknown as Parameters<typeof evaluatePolicy>[1];

const judge = (call: ScannedCall) => {
  onBlastRadius.mockClear();
  const result = limitBlastRadius(call, { onBlastRadius, ...exceptions });
  if (result.kind !== 'continue') return result;
  // The engine of a bundle answers at once.
  return evaluatePolicy(result.call, policyDeps) as StepResult<JudgedCall>;
};

describe('limitBlastRadius', () => {
  it('denies at once what nobody should approve', () => {
    const result = judge(aCall('delete_file', 'delete', { path: '/' }));
    expect(result).toMatchObject({
      kind: 'deny',
      cause: 'policy',
      message: expect.stringContaining('Blast radius: the call deletes at depth 0'),
      reasons: [{ policy_id: BLAST_RADIUS, rule: 'deny' }],
    });
    expect(onBlastRadius).toHaveBeenCalledOnce();
  });

  it('judges a call by the operation that it asks for', () => {
    const ask = (operation: string | undefined) =>
      judge(aCall('data', 'delete', { file_path: 'config.json' }, { operation }));
    expect(ask('write')).toMatchObject({ kind: 'continue' });
    expect(ask(undefined)).toMatchObject({ kind: 'escalate' });
  });

  it('takes a dry run for one only where the tool declares it, and never for what nobody may do', () => {
    const ask = (query: string, isDryRun: boolean) =>
      judge(aCall('execute_sql', 'execute', { query, dry_run: true }, { isDryRun }));
    expect(ask('TRUNCATE events', true)).toMatchObject({ kind: 'continue' });
    expect(ask('TRUNCATE events', false)).toMatchObject({ kind: 'escalate' });
    expect(ask('DROP DATABASE events', true)).toMatchObject({ kind: 'deny' });
  });

  it('passes on what stays within bounds, without an alert', () => {
    expect(judge(aCall('read_file', 'read', { path: '/srv/a' }))).toMatchObject({
      kind: 'continue',
      call: { reasons: [reason('allow')] },
    });
    expect(onBlastRadius).not.toHaveBeenCalled();
  });

  it('carries an escalation past policies that allow, with all reasons, and a denial wins', () => {
    const own = { policy_id: BLAST_RADIUS, rule: 'escalate' };
    const ask = (decision: PolicyReason['rule'], more = {}) =>
      judge(aCall('write_file', 'write', CONFIG, { rules: rulesThat(decision), ...more }));
    expect(ask('allow')).toMatchObject({ kind: 'escalate', reasons: [own] });
    expect(ask('escalate')).toMatchObject({
      kind: 'escalate',
      reasons: [reason('escalate'), own],
    });
    expect(ask('deny')).toMatchObject({ kind: 'deny', reasons: [reason('deny')] });
  });

  it('goes by an approval that covers it and all else that asks', () => {
    const { reasons } = judge(aCall('write_file', 'write', CONFIG)) as Escalate;
    const [own] = reasons as [PolicyReason];
    const granted = (decision: PolicyReason['rule'], ...reasons: PolicyReason[]) => {
      const asked = askedBy({ reasons, revision: 1 });
      const grant = { id: 'g', escalationId: 'e', asked };
      const rules = rulesThat(decision);
      return judge(aCall('write_file', 'write', CONFIG, { rules, grant })).kind;
    };
    expect(granted('allow', own)).toBe('continue');
    expect(onBlastRadius).not.toHaveBeenCalled();
    expect(granted('allow', reason('escalate'))).toBe('escalate');
    expect(granted('escalate', own)).toBe('escalate');
    expect(granted('escalate', own, reason('escalate'))).toBe('continue');
    expect(granted('deny', own)).toBe('deny');
    // Another reason of the reach, of the same bundle too, was not shown.
    expect(granted('allow', { ...own, message: 'another' })).toBe('escalate');
    expect(onBlastRadius).toHaveBeenCalled();
  });

  it('tells of a call that is judged again what it has not told', () => {
    const call = aCall('write_file', 'write', CONFIG);
    judge(call);
    expect(onBlastRadius).toHaveBeenCalledOnce();
    const now = { agent: call.agent, workflow: undefined, delegation: undefined };
    const again = (args: object) => aCall('write_file', 'write', args, judgeAgain(call, now).call);
    expect(judge(again(CONFIG)).kind).toBe('escalate');
    expect(onBlastRadius).not.toHaveBeenCalled();
    judge({ ...again({}), ask: { ...call.ask, args: { ...CONFIG, key: '/srv/tls.key' } } });
    expect(onBlastRadius.mock.calls.map(([, told]) => told)).toMatchObject([
      [{ rule: 'protected_file' }],
    ]);
  });

  it('reads what a client gives along, and the URI of a resource', () => {
    const retry = { inputResponses: { where: { content: { path: '/etc/hosts' } } } };
    const ask = { serverId: 's', method: 'tools/call', name: 'save', args: {}, retry };
    expect(judge(aCall('save', 'write', {}, { ask })).kind).toBe('escalate');
    const read = { ...ask, method: 'resources/read', args: { uri: 'file:///srv/tls.key' } };
    expect(judge(aCall('', 'read', {}, { ask: read })).kind).toBe('escalate');
    const list = { ...ask, method: 'tools/list', args: { path: '/etc/hosts' } };
    expect(judge(aCall('', 'read', {}, { ask: list })).kind).toBe('continue');
  });

  it('goes by the limits of the bundle', () => {
    const rules = rulesThat('allow');
    const blast_radius = {
      email_recipient_limit: 1,
      min_delete_depth: 2,
      bulk_action_threshold: 100,
      config_path_prefixes: [],
      protected_file_patterns: [],
    };
    const own = { ...rules, settings: { ...rules.settings, blast_radius } };
    expect(judge(aCall('write_file', 'write', CONFIG, { rules: own })).kind).toBe('continue');
    const mail = { to: ['a@x.org', 'b@x.org'] };
    expect(judge(aCall('send_email', 'execute', mail, { rules: own })).kind).toBe('escalate');
  });
});
