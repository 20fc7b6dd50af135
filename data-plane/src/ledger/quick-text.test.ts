import { Timestamp } from '@governance/shared/text';
import { expect, it } from 'vitest';
import { quickWriteOf } from './quick-text.ts';

it('writes the times of every day but 29 February, so that no day of a month is slow', () => {
  const write = quickWriteOf(Timestamp);
  for (let day = Date.UTC(2027, 0, 1); day < Date.UTC(2029, 0, 1); day += 86_400_000) {
    const time = new Date(day).toISOString();
    expect(write(time)).toBe(time.includes('-02-29') ? undefined : `"${time}"`);
  }
});
