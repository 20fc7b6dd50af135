/**
 * `npm run vectors` writes, beside single packages, sets of volumes that belong together, and
 * others that do not.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VOLUME_SETS } from '../testing/volume-sets.ts';

/** An entry of index.json. */
interface SetVector {
  name: string;
  /** In the given order. */
  packages: string[];
  anchor: string;
  verdict: 'VERIFIED' | 'NOT_VERIFIED';
  /** The check of the set that must fail. */
  check?: string;
}

const folder = fileURLToPath(new URL('./sets', import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const vectors = VOLUME_SETS.map(({ name, check, make }): SetVector => {
  const { volumes, anchor } = make();
  const file = name.replace(/[^a-z0-9]+/gi, '-').toLowerCase();
  const packages = volumes.map((bytes, i) => {
    writeFileSync(join(folder, `${file}-${i + 1}.tar.gz`), bytes);
    return `${file}-${i + 1}.tar.gz`;
  });
  writeFileSync(join(folder, `${file}-anchor.json`), `${JSON.stringify(anchor)}\n`);
  const verdict = check === undefined ? 'VERIFIED' : 'NOT_VERIFIED';
  const given = { name, packages, anchor: `${file}-anchor.json` };
  return { ...given, verdict, ...(check === undefined ? {} : { check }) };
});
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(vectors, null, 2)}\n`);
console.log(`wrote ${vectors.length} sets to ${folder}`);
