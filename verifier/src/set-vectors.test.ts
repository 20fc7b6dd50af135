/** The stored sets of volumes, made by an earlier program, get the same verdicts as then. */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findMissingPython, secondOpinionOfSet } from '../testing/second-opinion.ts';
import { parseTrustAnchor } from './trust.ts';
import { SERVICE_LIMITS } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

const folder = fileURLToPath(new URL('../vectors/sets', import.meta.url));
const vectors = z
  .array(
    z.object({
      name: z.string(),
      packages: z.array(z.string()).min(2),
      anchor: z.string(),
      verdict: z.string(),
      check: z.string().optional(),
    }),
  )
  .min(15)
  .parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')));
const cases = vectors.map((vector) => [vector.name, vector] as const);

async function firstOpinion({ packages, anchor }: (typeof vectors)[number]) {
  const sources = packages.map((name) => createReadStream(join(folder, name)));
  const given = parseTrustAnchor(readFileSync(join(folder, anchor), 'utf8'));
  return verifySet(sources, { anchor: given, issuers: [], limits: SERVICE_LIMITS });
}

it.each(cases)('%s', async (_name, vector) => {
  const { verdict, checks } = await firstOpinion(vector);
  expect(verdict).toBe(vector.verdict);
  const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
  if (vector.check === undefined) expect(failed).toEqual([]);
  else expect(failed).toContain(vector.check);
});

describe.skipIf(findMissingPython() !== undefined)('both verifiers agree on', () => {
  it.each(cases)('%s', async (_name, vector) => {
    const { verdict, checks, volumes } = await firstOpinion(vector);
    const paths = vector.packages.map((name) => join(folder, name));
    expect(secondOpinionOfSet(paths, join(folder, vector.anchor))).toEqual({
      verdict,
      checks: Object.fromEntries(
        checks.map(({ name, status, checked, total }) => [name, { status, checked, total }]),
      ),
      volumes: volumes.map((one) => one.verdict),
    });
  });
});
