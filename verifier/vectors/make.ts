/**
 * `npm run vectors`: writes packages on which every verifier of the format can be tested: good ones
 * of each kind, and one forgery for each attack. Signatures of bundles (ES256) differ each time;
 * everything else is reproducible.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORGERIES } from '../testing/forgeries.ts';
import { GOOD_PACKAGES } from '../testing/good-packages.ts';

/** An entry of index.json. */
interface Vector {
  name: string;
  package: string;
  anchor: string;
  verdict: 'VERIFIED' | 'NOT_VERIFIED';
  /** The check that must fail. */
  check?: string;
}

const folder = fileURLToPath(new URL('./files', import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

function write(
  name: string,
  { bytes, anchor }: { bytes: Buffer; anchor: unknown },
): Pick<Vector, 'package' | 'anchor'> {
  const text = `${JSON.stringify(anchor)}\n`;
  const anchorName = `anchor-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`;
  const ending = bytes[0] === 0x7b ? 'json' : 'tar.gz';
  const packageName = `${name.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}.${ending}`;
  writeFileSync(join(folder, anchorName), text);
  writeFileSync(join(folder, packageName), bytes);
  return { package: packageName, anchor: anchorName };
}

const vectors: Vector[] = [
  ...GOOD_PACKAGES.map(({ name, make }): Vector => {
    return { name, verdict: 'VERIFIED', ...write(name, make()) };
  }),
  ...FORGERIES.map(({ name, check, make }): Vector => {
    return { name, verdict: 'NOT_VERIFIED', check, ...write(name, make()) };
  }),
];
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(vectors, null, 2)}\n`);
console.log(`wrote ${vectors.length} packages to ${folder}`);
