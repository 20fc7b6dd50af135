/** The stored packages, made by an earlier program, get the same verdicts as then. */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseTrustAnchor } from './trust.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const folder = fileURLToPath(new URL('../vectors/files', import.meta.url));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const vectors = z
  .array(
    z.object({
      name: z.string(),
      package: z.string(),
      anchor: z.string(),
      verdict: z.string(),
      check: z.string().optional(),
    }),
  )
  .min(50)
  .parse(JSON.parse(read('index.json')));

it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_name, vector) => {
  const anchor = parseTrustAnchor(read(vector.anchor));
  const source = createReadStream(join(folder, vector.package));
  const result = await verifyPackage(source, { anchor, issuers: [], limits: SERVICE_LIMITS });
  expect(result.verdict).toBe(vector.verdict);
  const failed = result.checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
  if (vector.check === undefined) expect(failed).toEqual([]);
  else expect(failed).toContain(vector.check);
});

it('an anchor that names a key twice is invalid: one of the two could be revoked', () => {
  const [vector] = vectors;
  const anchor = parseTrustAnchor(read(vector?.anchor ?? ''));
  const [first] = anchor.keys;
  const twice = { ...anchor, keys: [...anchor.keys, { ...first, revoked_at: anchor.issued_at }] };
  expect(() => parseTrustAnchor(JSON.stringify(twice))).toThrow('must name each key once');
});
