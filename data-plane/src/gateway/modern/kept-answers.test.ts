import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentKey } from '../../enforcement/call/calls.ts';
import { createKeptAnswers } from './kept-answers.ts';

/** A store of 100 characters, and what is in it, as `tenant agent length`. */
function aStore() {
  const left: string[] = [];
  const callOf = (text: string) => {
    const [tenantId = '', agent = ''] = text.split(' ');
    return { text, caller: { tenantId, key: `${tenantId} ${agent}` as AgentKey } };
  };
  const drop = (call: ReturnType<typeof callOf>) => {
    left.splice(left.indexOf(call.text), 1);
    answers.remove(call);
  };
  const answers = createKeptAnswers(100, drop);
  const add = (text: string) => {
    const call = callOf(text);
    left.push(text);
    answers.add(call, Number(text.split(' ')[2]));
    return call;
  };
  return { add, drop, left };
}

it('drops the oldest of the agent that keeps most, of the tenant that keeps most', () => {
  const { add, left } = aStore();
  // Of one agent more than of any other, but of a tenant that keeps less.
  add('one a 40');
  for (const text of ['two a 10', 'two b 20', 'two b 5', 'two c 20']) add(text);
  add('two d 10');
  expect(left).toEqual(['one a 40', 'two a 10', 'two b 5', 'two c 20', 'two d 10']);
});

it('counts no more what was fetched', () => {
  const { add, drop, left } = aStore();
  const fetched = add('one a 60');
  drop(fetched);
  drop(fetched);
  add('one a 30');
  add('two a 40');
  add('three a 40');
  expect(left).toEqual(['one a 30', 'three a 40']);
});

it('keeps no answer that is too long alone, and everybody else’s', () => {
  const { add, left } = aStore();
  add('one a 90');
  add('two a 0');
  add('two b 101');
  expect(left).toEqual(['one a 90', 'two a 0']);
});

it('leaves a tenant all that is at most its part', () => {
  const tenants = ['one', 'two', 'three', 'four'];
  const answer = fc.record({
    tenant: fc.constantFrom(...tenants),
    agent: fc.constantFrom('a', 'b', 'c'),
    length: fc.nat(40),
  });
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 60 }), (given) => {
      const { add, left } = aStore();
      const small = ['zero a 10', 'zero b 10'].map(add).map(({ text }) => text);
      for (const { tenant, agent, length } of given) add(`${tenant} ${agent} ${length}`);
      expect(left).toEqual(expect.arrayContaining(small));
      const total = left.reduce((sum, text) => sum + Number(text.split(' ')[2]), 0);
      expect(total).toBeLessThanOrEqual(100);
    }),
  );
});
