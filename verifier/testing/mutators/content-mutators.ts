/**
 * Mutations of what members contain: their bytes, their lines, their order, and the records and
 * batches that an issuer signs again.
 */
import { type Members, sealPackage, streamsOf } from '../package-builder.ts';
import { packChanged, packed, signChanged } from './members.ts';
import type { Base, Mutated, Mutator } from './mutator.ts';
import { mutateBytes, mutateList, mutateText, pick, type Random } from './random.ts';

const replaced = (members: Members, at: number, content: Buffer): Members => {
  const [name] = members[at] as Members[number];
  return members.with(at, [name, content]);
};

const bytes: Mutator = {
  name: 'bytes of a member',
  mutate: (base, random) => {
    const at = random(base.members.length);
    const [, content] = base.members[at] as Members[number];
    return packChanged(base, replaced(base.members, at, mutateBytes(content, random)));
  },
};

function mutateLines({ members }: Base, random: Random): Members {
  const ofLines = members.flatMap(([name], at) => (name.endsWith('.ndjson') ? [at] : []));
  const at = pick(ofLines, random);
  const [, content] = members[at] as Members[number];
  const lines = content.toString('latin1').split('\n');
  return replaced(members, at, Buffer.from(mutateList(lines, random).join('\n'), 'latin1'));
}

const lines: Mutator = {
  name: 'lines of a member',
  mutate: (base, random) => packChanged(base, mutateLines(base, random)),
};

const order: Mutator = {
  name: 'order of members',
  mutate: (base, random) => {
    const { members } = base;
    const [at, to] = [random(members.length), random(members.length)];
    const [one, other] = [members[at], members[to]] as [Members[number], Members[number]];
    const isMoved = random(2) === 0;
    const moved = isMoved
      ? members.toSpliced(at, 1).toSpliced(to, 0, one)
      : members.with(at, other).with(to, one);
    return packChanged(base, moved);
  },
};

/** The issuer signs the manifest over whatever results. */
function signedAnew(name: string, change: (base: Base, random: Random) => Base['parts']): Mutator {
  return {
    name,
    mutate: (base, random) => {
      const parts = change(base, random);
      if (random(2) === 0) {
        try {
          parts.manifest.streams = streamsOf(parts.events);
        } catch {
          // What is left of a record proves nothing: the manifest stays as it was.
        }
      }
      const members = sealPackage(parts, base.signer);
      return packChanged(base, members);
    },
  };
}

const copyOf = ({ parts }: Base): Base['parts'] => ({
  ...structuredClone(parts),
  events: [...parts.events],
});

const records = signedAnew('records, signed anew', (base, random) => {
  const parts = copyOf(base);
  if (random(2) === 0) parts.events = mutateList(parts.events, random);
  else {
    const at = random(parts.events.length);
    parts.events[at] = Buffer.from(mutateText(String(parts.events[at]), random));
  }
  return parts;
});

const batches = signedAnew('batches, signed anew', (base, random) => {
  const parts = copyOf(base);
  if (random(2) === 0) parts.batches = mutateList(parts.batches, random);
  else {
    const at = random(parts.batches.length);
    try {
      parts.batches[at] = JSON.parse(mutateText(JSON.stringify(parts.batches[at]), random));
    } catch {
      parts.batches.splice(at, 1);
    }
  }
  return parts;
});

const shownBefore = signedAnew('', (base, random) => {
  const parts = copyOf(base);
  const { proofs } = parts;
  if (random(2) === 0) proofs.boundaries = mutateList(proofs.boundaries, random);
  else {
    const at = random(proofs.boundaries.length);
    try {
      proofs.boundaries[at] = JSON.parse(mutateText(JSON.stringify(proofs.boundaries[at]), random));
    } catch {
      proofs.boundaries.splice(at, 1);
    }
  }
  return parts;
});

/** Within one stream: records of several may come in any order. */
const boundaries: Mutator = {
  name: 'boundaries, signed anew',
  mutate: (base, random, bases) => {
    const streams = new Set(base.parts.proofs.boundaries.map(({ stream }) => stream));
    return streams.size === 1 ? shownBefore.mutate(base, random, bases) : undefined;
  },
};

/** A whole member of another good package, where this one has its own. */
function exchange(
  base: Base,
  random: Random,
  bases: readonly Base[],
): { members: Members; name: string; isOfTenant: boolean } | undefined {
  const other = pick(bases, random);
  const at = random(base.members.length);
  const [name] = base.members[at] as Members[number];
  const theirs = other.members.find(([own]) => own === name);
  const isOfTenant = other.anchor.tenant_id === base.anchor.tenant_id;
  return theirs && { members: base.members.with(at, theirs), name, isOfTenant };
}

const exchanged: Mutator = {
  name: 'members of another package',
  mutate: (base, random, bases) => {
    const found = exchange(base, random, bases);
    return found && packChanged(base, found.members);
  },
};

/** What an issuer may state differently: facts about keys, and who witnessed what. */
const FREE = /^(manifest\.dsse|keys)\.json$|^witness/;
/** Equally valid from another package of the same tenant: signed later, over the same content. */
const FREE_IN_TENANT = /^(checkpoints|bundles|payloads)/;

const exchangedAndSigned: Mutator = {
  name: 'members of another package, signed anew',
  mutate: (base, random, bases) => {
    const found = exchange(base, random, bases);
    if (!found || FREE.test(found.name)) return undefined;
    if (found.isOfTenant && FREE_IN_TENANT.test(found.name)) return undefined;
    return signChanged(base, found.members);
  },
};

const anotherAnchor: Mutator = {
  name: 'an anchor of another tenant',
  mutate: (base, random, bases): Mutated | undefined => {
    const { anchor } = pick(bases, random);
    if (anchor.tenant_id === base.anchor.tenant_id) return undefined;
    const { bytes } = packed(base.members);
    // Unchanged, or with this tenant named in it, or this tenant's log as well.
    const way = random(16);
    if (way > 1) return { bytes, anchor };
    const { tenant_id, log } = base.anchor;
    return { bytes, anchor: { ...anchor, tenant_id, ...(way === 1 && { log }) } };
  },
};

export const CONTENT_MUTATORS: readonly Mutator[] = [
  bytes,
  lines,
  order,
  records,
  batches,
  boundaries,
  exchanged,
  exchangedAndSigned,
  anotherAnchor,
];
