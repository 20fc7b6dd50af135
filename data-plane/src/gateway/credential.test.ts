import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseCredential } from './arrival.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('parseCredential', () => {
  it('reads Bearer, and keeps only a hash for the look-up', () => {
    const tokenHash = hash('sha256', 'a.b.c', 'base64');
    expect(parseCredential('bearer  a.b.c ')).toEqual({
      kind: 'bearer',
      token: 'a.b.c',
      tokenHash,
    });
  });

  it('reads Basic, where a secret may have colons', () => {
    const secretHash = hash('sha256', 'se:cret', 'buffer');
    expect(parseCredential(basic('id:se:cret'))).toEqual({
      kind: 'basic',
      clientId: 'id',
      secretHash,
    });
  });

  it.each([
    [undefined, 'none'],
    ['', 'none'],
    ['Bearer', 'malformed'],
    ['Bearer ', 'malformed'],
    ['Token x', 'malformed'],
    ['Basic', 'malformed'],
    [basic('no-colon'), 'malformed'],
    [basic(':no-id'), 'malformed'],
    [`Bearer ${'x'.repeat(9000)}`, 'malformed'],
  ])('takes %s for %s', (header, kind) => {
    expect(parseCredential(header).kind).toBe(kind);
  });
});
