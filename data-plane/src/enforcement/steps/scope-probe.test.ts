/** A delegation narrows: whatever the chain, what passes is permitted to every delegator. */

import type { DelegationFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import {
  DELEGATOR_LACKS,
  findExceedingRoles,
  findExceedingScope,
} from '@governance/shared/tokens/delegation-scope';
import { coversCall } from '@governance/shared/tokens/permission';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplicaAgent } from '../../contracts.ts';
import { permitsOf } from '../../replica/facts/role.ts';
import type { ClassifiedCall, DelegationLink } from '../call/calls.ts';
import { checkDelegatedScope } from './scope-probe.ts';

interface Given {
  permissions: string[];
  resource_scopes: string[];
  tools: string[];
  resources: string[];
}

function aLink({ permissions, resource_scopes, tools, resources }: Given): DelegationLink {
  const delegation = { id: uuidv7(), tools, resources } as DelegationFact;
  const delegator = {
    permits: permitsOf([{ permissions, resource_scopes }]),
  } as unknown as ReplicaAgent;
  return { delegation, delegator };
}

function aCall(links: DelegationLink[], over: { server: string; tool: string; path: string }) {
  const last = links.at(-1)?.delegation;
  const call = {
    id: uuidv7(),
    caller: { tenantId: uuidv7() },
    agent: { id: uuidv7() },
    ask: {
      serverId: over.server,
      method: 'tools/call',
      name: over.tool,
      args: { path: over.path },
    },
    action: 'read',
    delegation: { links, last },
  };
  return call as unknown as ClassifiedCall;
}

const judge = (call: ClassifiedCall) => {
  const judged = checkDelegatedScope(call);
  // As the control plane tells them apart.
  const isProbe = judged.kind === 'deny' && judged.message !== DELEGATOR_LACKS;
  return { kind: judged.kind, probes: isProbe ? 1 : 0 };
};

const server = fc.constantFrom('files', 'mail');
const tool = fc.constantFrom('read_file', 'read_mail', 'list');
const path = fc.constantFrom('/srv/a', '/srv/b/c', '/etc/passwd', '/srv');
const resource = fc.constantFrom(
  '*',
  'files',
  'mail',
  'files/*',
  'files/read_file',
  'read_*',
  'list',
);
const target = fc.constantFrom('*', '/srv/**', '/srv/*', '/etc/**', '/**');
const given: fc.Arbitrary<Given> = fc.record({
  permissions: fc.array(
    fc.tuple(resource, fc.constantFrom('read', '*', 'write')).map((parts) => parts.join(':')),
    { maxLength: 3 },
  ),
  resource_scopes: fc.array(
    target.map((one) => (one === '*' ? '*' : `target:${one}`)),
    { maxLength: 2 },
  ),
  tools: fc.array(resource, { minLength: 1, maxLength: 2 }),
  resources: fc.array(target, { minLength: 1, maxLength: 2 }),
});
const chain = fc.array(given, { minLength: 1, maxLength: 4 });
const asked = fc.record({ server, tool, path });

describe('a delegated call', () => {
  it('passes only where every delegator of its chain is permitted it', () => {
    let passed = 0;
    fc.assert(
      fc.property(chain, asked, (links, ask) => {
        const { kind } = judge(aCall(links.map(aLink), ask));
        if (kind !== 'continue') return;
        passed += 1;
        for (const { permissions } of links) {
          const covers = (one: string) => coversCall(one, ask.server, ask.tool, 'read');
          expect(permissions.some(covers)).toBe(true);
        }
        // Each shorter chain, which is what its delegator may do, lets it pass too.
        for (let end = 1; end < links.length; end++) {
          const shorter = links.slice(0, end).map(aLink);
          expect(judge(aCall(shorter, ask)).kind).toBe('continue');
        }
      }),
      { numRuns: 2_000 },
    );
    expect(passed).toBeGreaterThan(20);
  });

  it('is a probe of nobody’s where the chain was issued as the control plane issues it, and the tool covered', () => {
    fc.assert(
      fc.property(given, given, asked, (first, second, ask) => {
        fc.pre(findExceedingRoles(first, [first]) === undefined);
        fc.pre(findExceedingScope(second, first) === undefined);
        // What the last scope covers, all before it cover: only a delegator's roles may deny it then.
        const last = judge(aCall([aLink(second)], ask));
        const whole = judge(aCall([aLink(first), aLink(second)], ask));
        expect(whole.probes).toBe(last.probes);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [['localmodel-proxy:*'], 'write', 'deny'],
    [['localmodel-proxy:*', 'web:read'], 'write', 'deny'],
    [['localmodel-proxy:*', 'web:write'], 'read', 'deny'],
    [['web:read'], 'read', 'continue'],
    [['web:read', 'web:write'], 'write', 'continue'],
    [['*:*'], 'write', 'continue'],
  ] as const)('to a local model, by a delegator with %j, to %s: %s', (held, action, kind) => {
    const link = { permissions: [...held], resource_scopes: [], resources: ['*'] };
    for (const tools of [['localmodel-proxy'], ['*']]) {
      const asked = { server: 'localmodel-proxy', tool: 'localmodel-api', path: '/' };
      const call = aCall([aLink({ ...link, tools })], asked);
      // Nobody's probe: the scope covers it.
      expect(judge({ ...call, action })).toEqual({ kind, probes: 0 });
    }
  });

  it('that lists shows, and does nothing', () => {
    const call = aCall(
      [aLink({ permissions: [], resource_scopes: [], tools: ['x'], resources: ['*'] })],
      {
        server: 'files',
        tool: 'mcp:tools/list',
        path: '/',
      },
    );
    const list = { ...call, ask: { ...call.ask, method: 'tools/list' } };
    expect(judge(list)).toEqual({ kind: 'continue', probes: 0 });
    expect(judge(call)).toEqual({ kind: 'deny', probes: 1 });
  });
});
