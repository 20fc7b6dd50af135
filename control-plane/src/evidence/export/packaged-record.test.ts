import { canonicalize } from '@governance/shared/json/canonical-json';
import { MAX_KEY_LENGTH, parseStrictJson } from '@governance/shared/json/strict-json';
import { RECORD_JSON } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mayBeUnreadable } from './packaged-record.ts';

it('always: what a verifier would not read is looked at, at any depth and length of keys', () => {
  const around = { max: 4 };
  fc.assert(
    fc.property(
      fc.integer({
        min: RECORD_JSON.maxDepth - around.max,
        max: RECORD_JSON.maxDepth + around.max,
      }),
      fc.integer({ min: MAX_KEY_LENGTH - around.max, max: MAX_KEY_LENGTH + around.max }),
      fc.constantFrom('a', '__proto__'),
      fc.boolean(),
      (depth, length, name, isLong) => {
        let value: unknown = 1;
        for (let n = 1; n < depth; n++) value = n % 2 === 0 ? [value] : { a: value };
        const key = isLong ? 'k'.repeat(length) : name;
        const line = canonicalize(Object.fromEntries([[key, value]]));
        let isRead = true;
        try {
          parseStrictJson(line, RECORD_JSON);
        } catch {
          isRead = false;
        }
        expect(isRead || mayBeUnreadable(`{"a":1}\n${line}\n{"a":1}`)).toBe(true);
      },
    ),
  );
});
