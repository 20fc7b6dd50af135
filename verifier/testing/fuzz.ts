/**
 * Mutates good packages from a seed, each class of mutations in turn: as somebody without a key
 * would (bytes, members, archives), and as an issuer would who re-signs the manifest. None may be
 * verified, except one whose members equal the good package's byte for byte in another wrapping.
 */
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { SERVICE_LIMITS, verifyPackage } from '../src/verify-package.ts';
import { ARCHIVE_MUTATORS } from './mutators/archive-mutators.ts';
import { makeBases } from './mutators/bases.ts';
import { CONTENT_MUTATORS } from './mutators/content-mutators.ts';
import { JSON_MUTATORS } from './mutators/json-mutators.ts';
import type { Base, Mutated, Mutator } from './mutators/mutator.ts';
import { createRandom, type Random } from './mutators/random.ts';
import { SIGNATURE_MUTATORS } from './mutators/signature-mutators.ts';
import { WRAPPING_MUTATORS } from './mutators/wrapping-mutators.ts';
import { archiveOf } from './package-builder.ts';

const MUTATORS: readonly Mutator[] = [
  ...CONTENT_MUTATORS,
  ...JSON_MUTATORS,
  ...SIGNATURE_MUTATORS,
  ...ARCHIVE_MUTATORS,
  ...WRAPPING_MUTATORS,
];

/** A mutated package, and the anchor that it is verified against. */
export interface Mutation {
  index: number;
  /** The class. */
  what: string;
  base: Base;
  bytes: Buffer;
  anchor: TrustAnchor;
}

/** Counts of one class of mutations. */
export interface ClassCount {
  packages: number;
  /** Of these, packages with the good package's own members. */
  same_members: number;
}

export interface FuzzReport {
  seed: number;
  packages: number;
  classes: Record<string, ClassCount>;
  verdicts: Record<string, number>;
  /** Mutations whose packages were wrongly verified. */
  verified: string[];
  /** Mutations whose packages caused an error instead of a verdict. */
  crashes: string[];
  peak_mib: { rss: number; heap: number };
}

/** A mutator may find nothing to change, because of its base or by chance. */
const MAX_TRIES = 1_000;

function mutateOne(mutator: Mutator, bases: readonly Base[], random: Random): [Base, Mutated] {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const base = bases[random(bases.length)] as Base;
    try {
      const mutated = mutator.mutate(base, random, bases);
      if (mutated) return [base, mutated];
    } catch (error) {
      // A package without the part to be changed.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  throw new Error(`no package can be mutated: ${mutator.name}`);
}

/** Makes that many mutations, equally many of each class; a seed determines them. */
export function* mutatePackages(seed: number, mutations: number): Generator<Mutation> {
  const random = createRandom(seed);
  const bases = makeBases();
  for (let index = 0; index < mutations; index++) {
    const mutator = MUTATORS[index % MUTATORS.length] as Mutator;
    const [base, { bytes, anchor = base.anchor }] = mutateOne(mutator, bases, random);
    yield { index, what: mutator.name, base, bytes, anchor };
  }
}

/** Whether a package has a good package's members to the byte, as Node's own readers read it. */
function hasSameMembers({ base, bytes, anchor }: Mutation): boolean {
  if (anchor !== base.anchor) return false;
  if (bytes[0] === 0x1f) return gunzipSync(bytes).equals(archiveOf(base.members));
  const { members } = JSON.parse(bytes.toString('utf8')) as { members: Record<string, string> };
  const own = base.members.map(([name, content]) => [name, content.toString('utf8')]);
  return JSON.stringify(Object.entries(members)) === JSON.stringify(own);
}

const MIB = 1024 * 1024;
/** Interval of memory measurements, which cost a little. */
const LOOK_EVERY = 16;

function lookAtMemory({ peak_mib }: FuzzReport): void {
  const { rss, heapUsed } = process.memoryUsage();
  peak_mib.rss = Math.max(peak_mib.rss, Math.round(rss / MIB));
  peak_mib.heap = Math.max(peak_mib.heap, Math.round(heapUsed / MIB));
}

/** Makes that many mutations, and verifies each. */
export async function fuzzEvidence(
  seed: number,
  mutations: number,
  onPackage: (count: number) => void = () => undefined,
): Promise<FuzzReport> {
  const classes = MUTATORS.map(({ name }) => [name, { packages: 0, same_members: 0 }] as const);
  const report: FuzzReport = {
    seed,
    packages: 0,
    classes: Object.fromEntries(classes),
    verdicts: {},
    verified: [],
    crashes: [],
    peak_mib: { rss: 0, heap: 0 },
  };
  const { verdicts } = report;
  for (const mutation of mutatePackages(seed, mutations)) {
    const { index, what, bytes, anchor, base } = mutation;
    const counted = report.classes[what] as ClassCount;
    counted.packages++;
    report.packages++;
    onPackage(report.packages);
    const said = `${index}: ${what}, of ${base.name}`;
    if (index % LOOK_EVERY === 0) lookAtMemory(report);
    try {
      const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
      const { verdict } = await verifyPackage(Readable.from([bytes]), given);
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      if (verdict !== 'VERIFIED') continue;
      if (hasSameMembers(mutation)) counted.same_members++;
      else report.verified.push(said);
    } catch (error) {
      report.crashes.push(`${said}: ${error}`);
    }
  }
  return report;
}
