/** Compares both implementations over mutated packages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { SERVICE_LIMITS, verifyPackage } from '../src/verify-package.ts';
import { type Mutation, mutatePackages } from './fuzz.ts';
import { type Opinion, opinionOf, secondOpinions } from './second-opinion.ts';

/** Packages per run: starting the second verifier costs more than verifying a package. */
const BATCH = 1_000;

/**
 * Makes that many mutations, and has both implementations verify them.
 *
 * @returns their disagreements: the mutation, the check, and both statuses
 * @throws Error when the second verifier cannot be run
 */
export async function compareOpinions(seed: number, mutations: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  const differences: string[] = [];
  try {
    let held: Mutation[] = [];
    for (const mutation of mutatePackages(seed, mutations)) {
      held.push(mutation);
      if (held.length < BATCH) continue;
      differences.push(...(await compare(folder, held)));
      held = [];
    }
    differences.push(...(await compare(folder, held)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return differences;
}

/** The second verifier takes one anchor for all packages of a run. */
async function compare(folder: string, held: readonly Mutation[]): Promise<string[]> {
  const byAnchor = new Map<Mutation['anchor'], Mutation[]>();
  for (const mutation of held) {
    const same = byAnchor.get(mutation.anchor);
    if (same) same.push(mutation);
    else byAnchor.set(mutation.anchor, [mutation]);
  }
  const found: string[] = [];
  for (const [anchor, same] of byAnchor) found.push(...(await compareFor(folder, anchor, same)));
  return found;
}

async function compareFor(
  folder: string,
  anchor: Mutation['anchor'],
  held: readonly Mutation[],
): Promise<string[]> {
  const anchorPath = join(folder, 'anchor.json');
  writeFileSync(anchorPath, JSON.stringify(anchor));
  const paths = held.map(({ bytes }, i) => {
    const path = join(folder, `${i}.tar.gz`);
    writeFileSync(path, bytes);
    return path;
  });
  const second = secondOpinions(paths, anchorPath);
  const found: string[] = [];
  for (const [i, { index, what, base, bytes }] of held.entries()) {
    const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
    const own = opinionOf(await verifyPackage(Readable.from([bytes]), given));
    const other = second[i] as Opinion;
    for (const difference of differencesOf(own, other)) {
      found.push(`${index}: ${what}, of ${base.name}: ${difference}`);
    }
  }
  return found;
}

function differencesOf(own: Opinion, other: Opinion): string[] {
  const names = new Set([...Object.keys(own.checks), ...Object.keys(other.checks)]);
  const found = [...names]
    .filter((name) => own.checks[name] !== other.checks[name])
    .map((name) => `${name} is ${own.checks[name]} and ${other.checks[name]}`);
  if (own.verdict !== other.verdict) found.push(`${own.verdict} and ${other.verdict}`);
  return found;
}
