/** What exceptions lift, and what they never do. */
import type { PolicyReason, PolicyVerdict } from '@governance/policies/contract';
import { BLAST_RADIUS } from '@governance/shared/channel/exceptions';
import { ExceptionFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCall } from '../call/calls.ts';
import {
  decideCall,
  describeLifted,
  exceptionsFor,
  type FindException,
  isStillLifted,
} from './exceptions.ts';

const NOW = Date.UTC(2026, 10, 23);
const AGENT = uuidv7();
const POLICY = uuidv7();

const anException = (over: Partial<ExceptionFact> = {}): ExceptionFact =>
  ExceptionFact.parse({
    id: uuidv7(),
    lifts: 'escalation',
    ...{ agent_id: AGENT, mcp_server: null, tool_name: null, resource: null, policy_id: null },
    expires_at: new Date(NOW + 60_000).toISOString(),
    ...over,
  });

const aCall = (args: Record<string, unknown> = { path: '/srv/a' }) =>
  ({
    caller: { tenantId: 'tenant' },
    agent: { id: AGENT },
    ask: { serverId: 'files', method: 'tools/call', name: 'delete_file', args },
  }) as unknown as AgentCall;

const finding = (exceptions: ExceptionFact[], call = aCall(), now = NOW): FindException =>
  exceptionsFor(call, { replica: { findExceptions: () => exceptions }, planeNow: () => now });

const reason = (rule: PolicyReason['rule'], policy_id: string): PolicyReason => ({
  ...{ policy_id, policy: policy_id, rule, message: `${rule} of ${policy_id}` },
});

/** As the aggregator unites them. */
function verdictOf(reasons: PolicyReason[]): PolicyVerdict {
  const has = (rule: string) => reasons.some((one) => one.rule === rule);
  if (has('deny')) return { decision: 'deny', reasons };
  if (has('escalate')) return { decision: 'escalate', reasons };
  if (has('allow')) return { decision: 'allow', reasons };
  const none = { policy_id: '', policy: 'default', rule: 'deny', message: 'none' } as const;
  return { decision: 'deny', reasons: [none] };
}

const decide = (
  reasons: PolicyReason[],
  exceptions: ExceptionFact[],
  more: { carried?: PolicyReason[]; approved?: string[] } = {},
) =>
  decideCall({
    verdict: verdictOf(reasons),
    carried: more.carried ?? [],
    isApproved: ({ policy_id }) => more.approved?.includes(policy_id) === true,
    findException: finding(exceptions),
  });

const allow = reason('allow', 'permissions');
const asks = reason('escalate', POLICY);
const denies = reason('deny', POLICY);
const reaches = reason('escalate', BLAST_RADIUS);

it('what was lifted of a call that waited is lifted as long as its exceptions are in force', () => {
  const [one, other] = [anException(), anException()];
  const lifted = { exceptionIds: [one.id, other.id], reasons: [asks] };
  const isStill = (exceptions: ExceptionFact[], now = NOW) =>
    isStillLifted(
      { ...aCall(), lifted },
      { replica: { findExceptions: () => exceptions }, planeNow: () => now },
    );
  expect(isStill([other, one])).toBe(true);
  expect(isStill([one])).toBe(false);
  expect(isStill([one, other], NOW + 60_000)).toBe(false);
});

describe('an exception from an escalation', () => {
  it('lets the call go, and is named', () => {
    const exception = anException();
    const decided = decide([asks, allow], [exception]);
    expect(decided).toEqual({
      decision: 'allow',
      reasons: [allow],
      lifted: { exceptionIds: [exception.id], reasons: [asks] },
    });
    expect(decided.lifted && describeLifted(decided.lifted)).toBe(
      `under exception ${exception.id}, lifting ${POLICY}: escalate of ${POLICY}`,
    );
  });

  it('gives no permission: with none that allows, a person is asked as before', () => {
    expect(decide([asks], [anException()])).toEqual({ decision: 'escalate', reasons: [asks] });
    expect(decide([], [anException()]).decision).toBe('deny');
  });

  it('of one policy leaves what others ask', () => {
    const other = reason('escalate', 'other');
    const exception = anException({ policy_id: POLICY });
    const decided = decide([asks, other, allow], [exception]);
    expect(decided).toMatchObject({
      ...{ decision: 'escalate', reasons: [other] },
      lifted: { exceptionIds: [exception.id] },
    });
    expect(decide([asks, other, allow], [exception], { approved: ['other'] })).toMatchObject({
      decision: 'allow',
      reasons: [other],
    });
    const second = anException({ policy_id: 'other' });
    expect(decide([asks, other, allow], [exception, second])).toMatchObject({
      decision: 'allow',
      lifted: { exceptionIds: [exception.id, second.id] },
    });
  });

  it('covers how far a call reaches by name, or for one tool of one server', () => {
    const of = (over: Partial<ExceptionFact>) =>
      decide([allow], [anException(over)], { carried: [reaches] }).decision;
    expect(of({})).toBe('escalate');
    expect(of({ mcp_server: 'files' })).toBe('escalate');
    expect(of({ policy_id: POLICY })).toBe('escalate');
    expect(of({ mcp_server: 'files', tool_name: 'delete_file' })).toBe('allow');
    expect(of({ policy_id: BLAST_RADIUS })).toBe('allow');
  });

  it('ends by the clock of the data plane, whatever the control plane sends', () => {
    const exception = anException();
    const at = Date.parse(exception.expires_at);
    expect(finding([exception], aCall(), at - 1)('escalation', POLICY)).toBe(exception);
    expect(finding([exception], aCall(), at)('escalation', POLICY)).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, boolean]>([
    ['/srv/tmp/**', { path: '/srv/tmp/a/b' }, true],
    ['/srv/tmp/**', { path: '/srv/tmp' }, true],
    ['/srv/tmp/*', { path: '/srv/tmp/a/b' }, false],
    ['/srv/tmp/**', { path: '/srv/tmp/../etc/passwd' }, false],
    ['/srv/tmp/**', { path: '/srv/tmp/%2e%2e/%2e%2e/etc/passwd' }, false],
    ['/srv/tmp/**', { path: '/srv/tmp/a', destination: '/etc/b' }, false],
    ['/srv/tmp/**', { paths: ['/srv/tmp/a', '/srv/other'] }, false],
    ['/srv/tmp/**', {}, false],
    ['/srv/tmp/**', { path: 'srv/tmp/a' }, false],
    ['/srv/a', { path: '/srv/a' }, true],
    ['/srv/a', { path: '/srv/ab' }, false],
    ['*@example.com', { to: 'ann@EXAMPLE.com' }, true],
    ['*@example.com', { to: ['ann@example.com', 'eve@example.org'] }, false],
    ['', {}, true],
    ['', { path: '/srv/a' }, false],
  ])('for %j and %j: %s', (resource, args, isCovered) => {
    const find = finding([anException({ resource })], aCall(args));
    expect(find('escalation', POLICY) !== undefined).toBe(isCovered);
  });
});

describe('an exception from a denial', () => {
  const lifting = (policyId = POLICY) => anException({ lifts: 'deny', policy_id: policyId });

  it('has the call decided as if that policy had not spoken', () => {
    const exception = lifting();
    expect(decide([denies, allow], [exception])).toMatchObject({
      ...{ decision: 'allow', reasons: [allow] },
      lifted: { exceptionIds: [exception.id], reasons: [denies] },
    });
    // What else that policy said goes with it.
    expect(decide([denies, asks, allow], [exception]).decision).toBe('allow');
    expect(decide([denies, reason('allow', POLICY)], [exception])).toEqual({
      decision: 'deny',
      reasons: [denies],
    });
    const other = reason('escalate', 'other');
    expect(decide([denies, other, allow], [exception])).toMatchObject({
      ...{ decision: 'escalate', reasons: [other] },
      lifted: { exceptionIds: [exception.id] },
    });
  });

  it('leaves what another policy denies', () => {
    const other = reason('deny', 'other');
    expect(decide([denies, other, allow], [lifting()])).toEqual({
      decision: 'deny',
      reasons: [denies, other],
    });
    expect(decide([denies, other, allow], [lifting(), lifting('other')]).decision).toBe('allow');
  });

  it('lifts no escalation, and one from an escalation no denial', () => {
    expect(decide([asks, allow], [lifting()]).decision).toBe('escalate');
    expect(decide([denies, allow], [anException(), anException({ policy_id: POLICY })])).toEqual({
      decision: 'deny',
      reasons: [denies],
    });
  });

  it.each([
    ['no policy', { lifts: 'deny', policy_id: null }],
    ['no agent', { lifts: 'deny', policy_id: POLICY, agent_id: null }],
    ['the blast radius', { lifts: 'deny', policy_id: BLAST_RADIUS }],
  ] as const)('of %s is no fact', (_, over) => {
    expect(() => anException(over)).toThrow();
  });
});

const policyIds = fc.constantFrom('a', 'b', 'c', BLAST_RADIUS);
const someReasons = fc.array(
  fc.tuple(fc.constantFrom('deny', 'escalate', 'allow'), fc.constantFrom('a', 'b', 'c')),
  { maxLength: 6 },
);
const someExceptions = fc.array(
  fc
    .record({
      lifts: fc.constantFrom('escalation' as const, 'deny' as const),
      policy_id: fc.option(policyIds),
      mcp_server: fc.constantFrom(null, 'files'),
      tool_name: fc.constantFrom(null, 'delete_file'),
      resource: fc.constantFrom(null, '', '/srv/**', '/etc/**'),
      minutes: fc.integer({ min: -2, max: 2 }),
    })
    .filter(({ lifts, policy_id }) => {
      return lifts !== 'deny' || (policy_id !== null && policy_id !== BLAST_RADIUS);
    })
    .map(({ minutes, ...over }) =>
      anException({ ...over, expires_at: new Date(NOW + minutes * 60_000).toISOString() }),
    ),
  { maxLength: 5 },
);

describe('whatever policies say and exceptions there are', () => {
  it('a call goes only if a policy allows it and every objection is lifted by name', () => {
    fc.assert(
      fc.property(someReasons, fc.boolean(), someExceptions, (said, isCarried, exceptions) => {
        const reasons = said.map(([rule, id]) => reason(rule as PolicyReason['rule'], id));
        const carried = isCarried ? [reaches] : [];
        const decided = decide(reasons, exceptions, { carried });
        const plain = decide(reasons, [], { carried });
        const inForce = exceptions.filter(({ expires_at }) => Date.parse(expires_at) > NOW);
        if (inForce.length === 0) expect(decided).toEqual(plain);
        // It never makes a call go worse.
        const rank = { deny: 0, escalate: 1, allow: 2 };
        expect(rank[decided.decision]).toBeGreaterThanOrEqual(rank[plain.decision]);
        if (decided.decision === plain.decision && !decided.lifted) return;
        const named = inForce.filter(({ id }) => decided.lifted?.exceptionIds.includes(id));
        const liftsDenialOf = (id: string) =>
          named.some(({ lifts, policy_id }) => lifts === 'deny' && policy_id === id);
        const silenced = reasons.filter(({ rule }) => rule === 'deny').map((one) => one.policy_id);
        for (const id of silenced) expect(liftsDenialOf(id)).toBe(true);
        const left = reasons.filter(({ policy_id }) => !silenced.includes(policy_id));
        if (decided.decision !== 'allow') return;
        expect(left.some(({ rule }) => rule === 'allow')).toBe(true);
        for (const { rule, policy_id } of [...left, ...carried]) {
          if (rule !== 'escalate') continue;
          const isLifted = named.some(
            (one) =>
              one.lifts === 'escalation' &&
              (one.policy_id === null || one.policy_id === policy_id) &&
              one.resource !== '' &&
              one.resource !== '/etc/**',
          );
          expect(isLifted).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
