import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { expect, it } from 'vitest';
import { prepareDlp } from './dlp-scanners.ts';

const patternsOf = (findings: readonly { pattern: string }[]) =>
  findings.map(({ pattern }) => pattern);

it('reports what is blocked, even where a severer finding that is not blocked is in the same place', () => {
  const value = { note: 'password: "ana.kovac7@corp-mail.net"' };
  const { outbound } = DEFAULT_DLP_SETTINGS;
  const usual = prepareDlp(DEFAULT_DLP_SETTINGS);
  expect(patternsOf(usual.scanSent(value))).toEqual(['secret_assignment']);
  const odd = prepareDlp({ ...DEFAULT_DLP_SETTINGS, outbound: { ...outbound, low: 'block' } });
  expect(patternsOf(odd.scanSent(value)).sort()).toEqual(['email_address', 'secret_assignment']);
});
