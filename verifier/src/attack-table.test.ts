/**
 * Each attack on a package, the check that finds it, and the stored package that demonstrates it.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseTrustAnchor } from './trust.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const ATTACKS: readonly (readonly [attack: string, check: CheckName, vector: string])[] = [
  ['a record is edited', 'events.canonical', 'a record in another writing'],
  ['a record is edited', 'chain.links', 'a record that was edited, to the next one'],
  ['a record is edited', 'batch.root', 'a record that was edited'],
  ['a record is deleted', 'chain.sequence', 'a record that was taken out'],
  ['a record is deleted', 'chain.links', 'a record that was taken out, and the next numbered anew'],
  ['records are reordered', 'chain.sequence', 'two records that were exchanged'],
  ['records are reordered', 'chain.links', 'two records that were exchanged'],
  ['the head is cut', 'chain.start', 'a head that was cut'],
  ['the tail is cut', 'chain.head', 'a tail that was cut'],
  ['the tail is cut', 'scope.complete', 'a batch that was taken out, to its range'],
  ['the tail is cut', 'log.inclusion', 'a batch that was taken out with its records'],
  ["another tenant's records are spliced in", 'tenant.binding', 'records of another tenant'],
  [
    "another tenant's records are spliced in",
    'tenant.binding',
    'a package of another tenant than the anchor',
  ],
  [
    'an attacker signs with a key of their own',
    'keys.anchored',
    'a manifest signed by an attacker',
  ],
  [
    'an attacker signs with a key of their own',
    'keys.anchored',
    'a writer whom an attacker vouches for',
  ],
  [
    'an attacker signs with a key of their own',
    'keys.anchored',
    'a rotation that the key before did not sign',
  ],
  [
    'an attacker signs with a key of their own',
    'keys.anchored',
    'a retired key that names a successor, dated back',
  ],
  ['a key is expired, rotated or revoked', 'keys.validity', 'a key that the anchor says is over'],
  [
    'a key is expired, rotated or revoked',
    'keys.validity',
    'a key that signed after it was rotated',
  ],
  ['a key is expired, rotated or revoked', 'keys.validity', 'a key that the anchor revokes'],
  [
    'a key is expired, rotated or revoked',
    'keys.validity',
    'a decision by a bundle whose key was revoked, which only the anchor says',
  ],
  [
    'the issuer writes everything anew and signs it',
    'log.consistency',
    'a log that the issuer wrote anew and signed again',
  ],
  [
    'the issuer writes everything anew and signs it',
    'log.consistency',
    'a log written anew behind an announced restore',
  ],
  [
    'the issuer writes everything anew and signs it',
    'witness.quorum',
    'cosignatures of another root',
  ],
];

const folder = fileURLToPath(new URL('../vectors/files', import.meta.url));
const vectors = z
  .array(z.object({ name: z.string(), package: z.string(), anchor: z.string() }))
  .parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')));

it.each(ATTACKS)('%s: found by %s (%s)', async (_attack, check, name) => {
  const vector = vectors.find((one) => one.name === name);
  if (!vector) throw new Error(`there is no vector ${name}`);
  const anchor = parseTrustAnchor(readFileSync(join(folder, vector.anchor), 'utf8'));
  const source = createReadStream(join(folder, vector.package));
  const result = await verifyPackage(source, { anchor, issuers: [], limits: SERVICE_LIMITS });
  expect(result.verdict).toBe('NOT_VERIFIED');
  expect(result.checks.find((one) => one.name === check)?.status).toBe('fail');
});

it('the page has these attacks, and no others', () => {
  const page = readFileSync(new URL('../../docs/verifier.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('| Attack | Check | Vector |\n|---|---|---|\n');
  const [lines = ''] = table.split('\n\n');
  expect(lines.split('\n')).toEqual(
    ATTACKS.map(([attack, check, vector]) => `| ${attack} | \`${check}\` | ${vector} |`),
  );
});
