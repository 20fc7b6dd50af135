import { uuidv7 } from '@governance/shared/ids';
import { createIdentifierHash } from '@governance/shared/keys/identifier-hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identified } from '../record/kept-payload.ts';
import { findAddresses } from './e-mail-addresses.ts';
import { hashIdentifiers } from './hash-identifiers.ts';

const hash = createIdentifierHash(uuidv7(), Buffer.alloc(32, 1));
const agent = { id: uuidv7(), name: 'mailer', owner: 'anna@corp.example' };
const identified = (over: Partial<Identified> = {}): Identified => ({
  part: 'result',
  agent,
  requesterId: 'user-7',
  otherRequesters: [],
  hash,
  ...over,
});
const within = (value: unknown) => hashIdentifiers(value, identified());

describe('e-mail addresses are found', () => {
  it.each([
    ['anna@corp.example', 'anna@corp.example'],
    ['Anna <anna.b+c@mail.corp.example>, bo@x.de', 'anna.b+c@mail.corp.example', 'bo@x.de'],
    ['{"to":"anna@corp.example","cc":["bo@x.de"]}', 'anna@corp.example', 'bo@x.de'],
    ['mailto:anna%40corp.example?cc=%20bo@x.de', 'anna@corp.example', 'bo@x.de'],
    ['"\\u0061nna\\u0040corp.example\\nbo@x.de"', 'nna@corp.example', 'bo@x.de'],
    ['write to anna@corp.example.', 'anna@corp.example'],
    ["o'brien!@corp.example, {!~@x.de}", '!@corp.example', '{!~@x.de'],
    ['anna@corp.example.2', 'anna@corp.example'],
    ['jürgen@bücher.example', 'jürgen@bücher.example'],
    ['a@xn--bcher-kva.xn--p1ai', 'a@xn--bcher-kva.xn--p1ai'],
    ['a@b@c.de', 'b@c.de'],
    ['pkg@1.2.3 @scope/x @media a@localhost x@ @y.de a@b..de a@.de'],
    ['anna\uff20corp.example, bo\ufe6bx.de', 'anna@corp.example', 'bo@x.de'],
    ['"anna\\uFF20corp.example"', 'anna@corp.example'],
    ['anna&#64;corp.example bo&#x40;x.de c&commat;x.de', 'anna@corp.example', 'bo@x.de', 'c@x.de'],
    ['to "anna b"@corp.example, <"b"@x.de>', '"anna b"@corp.example', '"b"@x.de'],
    ['{"to":"\\"anna b\\"@corp.example"}', '"anna b"@corp.example'],
    ['{"a":"@corp.example","b":["","@x.de"]} "@x.de'],
    ['--anna@x.de -@x.de', 'anna@x.de', '-@x.de'],
  ])('%s', (text, ...addresses) => {
    expect(findAddresses(text).map(({ address }) => address)).toEqual(addresses);
  });

  it('in any text, none twice and none outside it', () => {
    const part = fc.constantFrom(
      'a',
      '.',
      '-',
      '@',
      '%40',
      '\\u0040',
      ' ',
      'de',
      '1',
      'ü',
      '%2',
      '\\',
      '"',
      '&#64;',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join('');
        let from = 0;
        for (const { start, end, address } of findAddresses(text)) {
          expect(start).toBeGreaterThanOrEqual(from);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(text.length);
          expect(address).toMatch(/^[^@]+@[^@]+$/);
          from = end;
        }
      }),
    );
  });
});

it('an address is hashed wherever it stands, in any case', () => {
  const one = hash('anna@corp.example');
  expect(
    within({
      to: 'Anna@Corp.Example',
      text: '{"mail":"anna@corp.example","n":1}',
      list: [['a', 'cc: anna@corp.example']],
      'anna@corp.example': true,
    }),
  ).toEqual({
    to: one,
    text: `{"mail":"${one}","n":1}`,
    list: [['a', `cc: ${one}`]],
    [one]: true,
  });
});

it('the requester and the agent’s id are hashed wherever they stand, names of members stay', () => {
  expect(within({ 'user-7': `user-7 as ${agent.id}`, note: 'by mailer' })).toEqual({
    'user-7': `${hash('user-7')} as ${hash(agent.id)}`,
    note: 'by mailer',
  });
  const short = identified({ requesterId: 'me' });
  expect(hashIdentifiers({ note: 'some men' }, short)).toEqual({ note: 'some men' });
});

it('the policy input has its agent and requester hashed, unless they were removed', () => {
  const input = {
    agent: { ...agent, roles: ['user'] },
    requester: { id: 'user-7', verified: false },
    request: { parameters: { name: 'mailer' } },
  };
  const named = identified({ part: 'input' });
  const owner = hash(agent.owner);
  expect(hashIdentifiers(input, named)).toEqual({
    agent: { id: hash(agent.id), name: hash('mailer'), owner, roles: ['user'] },
    requester: { id: hash('user-7'), verified: false },
    request: { parameters: { name: 'mailer' } },
  });
  expect(hashIdentifiers({ agent: { id: agent.id }, requester: {} }, named)).toEqual({
    agent: { id: hash(agent.id) },
    requester: {},
  });
});

it('a value without identifiers is the value itself', () => {
  const value = { content: [{ type: 'text', text: 'user-8' }], n: 1, at: null };
  expect(within(value)).toBe(value);
});

it('hashed identifiers are not hashed again, whatever a requester is called', () => {
  const named = identified({ part: 'members', requesterId: 'hid1' });
  expect(hashIdentifiers({ requester_id: 'hid1', target: 'a@b.de hid1' }, named)).toEqual({
    requester_id: hash('hid1'),
    target: `${hash('a@b.de')} ${hash('hid1')}`,
  });
});

it('a value of too many levels is taken out', () => {
  let value: unknown = 'anna@corp.example';
  for (let level = 0; level < 5_000; level++) value = [value];
  expect(JSON.stringify(within(value))).not.toContain('anna');
});

it('identifiers beyond the limit are removed, but never the requester', () => {
  const addresses = Array.from({ length: 3_000 }, (_, index) => `u${index}@corp.example`);
  const left = within([...addresses, 'user-7']) as string[];
  expect(left.at(-1)).toBe(hash('user-7'));
  expect(left).toContain('[REDACTED]');
  expect(left.join()).not.toContain('@');
});

it.each([
  ['signs', '@'],
  ['signs with something before', 'a@'],
  ['signs as a URL writes them', '%40'],
  ['signs as JSON writes them', '\\u0040'],
  ['labels', 'a@b.1.'],
  ['hyphens', 'a@b.--'],
])('a text of many %s takes no longer for each', (_, part) => {
  // Seconds where a text was looked through again for each of them, and none elsewhere.
  const text = part.repeat(200_000);
  expect(findAddresses(text)).toEqual([]);
  expect(findAddresses(`${text} anna@corp.example`)).toHaveLength(1);
});
