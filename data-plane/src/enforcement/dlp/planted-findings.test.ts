/** Lesser findings, which anybody can plant, hide no graver one: not from a call, not in a result. */
import type { DlpSettings } from '@governance/shared/settings/dlp-settings';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareDlp } from './dlp-scanners.ts';
import { examineReceived } from './examine-received.ts';

const KEY = 'AKIAQ7MZ3HTXW5RBNC2V';
const ENCODED = Buffer.from(`key ${KEY}`).toString('base64');

const withPattern = (regex: string, severity: 'low' | 'high'): DlpSettings => ({
  ...DEFAULT_DLP_SETTINGS,
  custom: [{ id: '0197a1b2-0000-7000-8000-000000000001', name: 'planted', regex, severity }],
});
const SETTINGS = {
  first: DEFAULT_DLP_SETTINGS,
  'a low pattern in every field name': withPattern('(?i)account', 'low'),
  'a low pattern in every value': withPattern('[a-z]+', 'low'),
  'a high pattern in every field name': withPattern('(?i)account', 'high'),
  'results blocked at critical, redacted at high': {
    ...withPattern('n\\d+', 'high'),
    results: { ...DEFAULT_DLP_SETTINGS.results, critical: 'block' },
  } satisfies DlpSettings,
};
const PREPARED = Object.entries(SETTINGS).map(([name, settings]) => ({
  name,
  prepared: prepareDlp(settings),
}));

/** Values with a key, each in a form of its own. */
const GRAVE: readonly Record<string, unknown>[] = [
  { note: `key ${KEY}` },
  { note: `R&amp;D ${ENCODED}` },
  { note: `R&amp;D &#65;`, one: KEY.slice(0, 9), two: KEY.slice(9) },
  { note: `ana7@corp-mail.net ${KEY.slice(0, 9)}`, two: `${KEY.slice(9)} n1` },
  { long: 'The road works have delayed it. '.repeat(40_000), note: KEY },
];
const LESSER = [
  (i: number) => ({ account: `n${i}` }),
  (i: number) => `ana${i}@corp-mail.net`,
  (i: number) => ({ account: `+49 151 23456${100 + i}` }),
];

const values = fc
  .record({
    grave: fc.constantFrom(...GRAVE),
    lesser: fc.constantFrom(...LESSER),
    count: fc.constantFrom(0, 100, 120, 150, 198, 199, 200, 300, 700),
    isText: fc.boolean(),
    isBehind: fc.boolean(),
  })
  .map(({ grave, lesser, count, isText, isBehind }) => {
    const rows = Array.from({ length: count }, (_, i) => lesser(i));
    const planted = isText ? JSON.stringify(rows, null, 1) : rows;
    return isBehind ? { planted, ...grave } : { ...grave, planted };
  });

const received = (value: unknown) =>
  ({
    isFromClient: false,
    value,
    raw: null,
    carry: '',
    opaque: [],
    outputSchema: undefined,
  }) as const;

describe.each(PREPARED)('among any number of lesser findings ($name)', ({ prepared }) => {
  it('a critical one blocks a call', () => {
    fc.assert(
      fc.property(values, (value) => {
        const found = prepared.scanSent({ name: 'read', arguments: value });
        expect(found.filter(({ severity }) => severity === 'critical')).not.toEqual([]);
      }),
      { seed: 7, numRuns: 15 },
    );
  });

  it('a critical one is taken out of a result, or the result is blocked', () => {
    fc.assert(
      fc.property(values, (value) => {
        const { findings, redacted } = examineReceived(
          received({ structuredContent: value }),
          prepared,
        );
        expect(findings.some(({ severity }) => severity === 'critical')).toBe(true);
        const rest = redacted?.raw ?? '';
        for (const piece of [KEY, KEY.slice(9), ENCODED]) expect(rest).not.toContain(piece);
      }),
      { seed: 7, numRuns: 15 },
    );
  });
});
