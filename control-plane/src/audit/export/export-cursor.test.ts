import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { LAST_MS } from '@governance/shared/time/iso-time';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMasterKey } from '../../platform/keys/master-key.ts';
import { createExportCursors, MAX_CURSOR_CHARS } from './export-cursor.ts';

const cursors = createExportCursors(createMasterKey(new Secret(randomBytes(32))));
const cursor = { after: 3, until: 9, total: 7, from: null, to: null };

it('reads what it wrote, for the tenant alone', () => {
  const text = cursors.write('a', cursor);
  expect(cursors.read('a', text)).toEqual(cursor);
  expect(() => cursors.read('b', text)).toThrow('X-Next-Cursor');
});

it('is short enough to be read, whatever it says', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = { after: most, until: most, total: most, from: LAST_MS, to: LAST_MS };
  const text = cursors.write('a', longest);
  expect(text.length).toBeLessThanOrEqual(MAX_CURSOR_CHARS);
  expect(cursors.read('a', text)).toEqual(longest);
});

it('reads nothing else', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => cursors.read('a', text)).toThrow('X-Next-Cursor');
    }),
  );
});

it.each([
  { after: 10 },
  { total: 10 },
  { from: 2, to: 1 },
  { to: LAST_MS + 1 },
  { until: -1 },
])('reads none that no export has, whoever wrote it: %j', (change) => {
  const text = cursors.write('a', { ...cursor, ...change });
  expect(() => cursors.read('a', text)).toThrow('X-Next-Cursor');
});
