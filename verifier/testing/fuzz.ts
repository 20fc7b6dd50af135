/**
 * Mutates good packages at random, by a seed: as somebody without a key would (any member), and as an
 * issuer would who signs the manifest anew (records and batches, which the writers signed). None may
 * be verified.
 */
import { Readable } from 'node:stream';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { SERVICE_LIMITS, verifyPackage } from '../src/verify-package.ts';
import { aFullStory, SELECTIVE } from './good-packages.ts';
import {
  aPackage,
  type Members,
  type PackageParts,
  packMembers,
  sealPackage,
  streamsOf,
} from './package-builder.ts';

export interface FuzzReport {
  seed: number;
  mutations: number;
  /** Of packages that were verified all the same: what was done. */
  verified: string[];
}

/** mulberry32: small, and the same everywhere. */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

type Random = (below: number) => number;

function mutateBytes(content: Buffer, random: Random): Buffer {
  const at = random(content.length);
  switch (random(4)) {
    case 0:
      return content.subarray(0, at);
    case 1:
      return Buffer.concat([content.subarray(0, at), content.subarray(at + 1 + random(40))]);
    case 2:
      return Buffer.concat([
        content.subarray(0, at),
        Buffer.from([random(256)]),
        content.subarray(at),
      ]);
    default: {
      const edited = Buffer.from(content);
      edited[at] = (edited[at] as number) ^ (1 + random(255));
      return edited;
    }
  }
}

/** Exchanges, doubles or takes out an item. */
function mutateList<T>(items: readonly T[], random: Random): T[] {
  const [at, other] = [random(items.length), random(items.length)];
  const [one, two] = [items[at] as T, items[other] as T];
  if (random(3) === 0) return items.toSpliced(at, 1);
  if (random(2) === 0) return items.toSpliced(other, 0, one);
  return items.with(at, two).with(other, one);
}

/** Exchanges two digits or letters of a text for others, which leaves its form mostly as it is. */
function mutateText(text: string, random: Random): string {
  const at = random(text.length);
  const one = '0123456789abcdefz'[random(17)] ?? '0';
  return `${text.slice(0, at)}${one}${text.slice(at + 1)}`;
}

function mutateMembers(members: Members, random: Random): [Members, string] {
  const at = random(members.length);
  const [name, content] = members[at] as Members[number];
  if (random(5) === 0) return [mutateList(members, random), 'members'];
  if (random(3) === 0 && name.endsWith('.ndjson')) {
    const lines = content.toString('latin1').split('\n');
    const edited = Buffer.from(mutateList(lines, random).join('\n'), 'latin1');
    return [members.with(at, [name, edited]), `lines of ${name}`];
  }
  return [members.with(at, [name, mutateBytes(content, random)]), `bytes of ${name}`];
}

function mutateParts(parts: PackageParts, random: Random): [PackageParts, string] {
  const edited = structuredClone(parts);
  edited.events = [...parts.events];
  const { events, batches } = edited;
  const what = random(4);
  if (what === 0) edited.events = mutateList(events, random);
  else if (what === 1) {
    const at = random(events.length);
    events[at] = Buffer.from(mutateText(String(events[at]), random));
  } else if (what === 2) edited.batches = mutateList(batches, random);
  else {
    const at = random(batches.length);
    try {
      batches[at] = JSON.parse(mutateText(JSON.stringify(batches[at]), random));
    } catch {
      batches.splice(at, 1);
    }
  }
  if (random(2) === 0) {
    try {
      edited.manifest.streams = streamsOf(edited.events);
    } catch {
      // What is left of a record says nothing: the manifest stays as it was.
    }
  }
  return [edited, `signed anew, ${what < 2 ? 'records' : 'batches'}`];
}

const bytesOf = (members: Members): string =>
  members.map(([name, content]) => `${name}\n${content.toString('latin1')}`).join('\n');

/** A package that was mutated, and the anchor that it is not verified against. */
export interface Mutation {
  index: number;
  what: string;
  bytes: Buffer;
  anchor: TrustAnchor;
}

/** Makes as many mutations; those that changed nothing are left out. */
export function* mutatePackages(seed: number, mutations: number): Generator<Mutation> {
  const random = createRandom(seed);
  const { tenant } = aFullStory();
  const anchor = tenant.anchor(3);
  const bases = [{ payloads: true }, SELECTIVE].map((request) => {
    const parts = aPackage(tenant, { anchorSizes: [3], ...request });
    return { parts, members: sealPackage(parts, tenant.keys.evidence) };
  });
  for (let index = 0; index < mutations; index++) {
    const base = bases[random(bases.length)] as (typeof bases)[number];
    let members: Members;
    let what: string;
    if (random(2) === 0) [members, what] = mutateMembers(base.members, random);
    else {
      const [parts, said] = mutateParts(base.parts, random);
      [members, what] = [sealPackage(parts, tenant.keys.evidence), said];
    }
    if (bytesOf(members) === bytesOf(base.members)) continue;
    yield { index, what, bytes: packMembers(members), anchor };
  }
}

/** Makes as many mutations, and verifies each. */
export async function fuzzEvidence(seed: number, mutations: number): Promise<FuzzReport> {
  const verified: string[] = [];
  for (const { index, what, bytes, anchor } of mutatePackages(seed, mutations)) {
    const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
    const result = await verifyPackage(Readable.from([bytes]), given);
    if (result.verdict === 'VERIFIED') verified.push(`${index}: ${what}`);
  }
  return { seed, mutations, verified };
}
