/** Valid signatures of something else: swapped within a package and between good ones. */

import { DsseEnvelope } from '@governance/shared/evidence/dsse';
import { EvidenceKeys } from '@governance/shared/evidence/evidence-keys';
import {
  BatchLine,
  BundleLine,
  EVIDENCE_MEMBERS,
  WitnessLine,
} from '@governance/shared/evidence/evidence-package';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { contentOf, fromLines, linesOf, packChanged, signChanged, withContent } from './members.ts';
import type { Base, Mutator } from './mutator.ts';
import { pick } from './random.ts';

const { manifest, keys, batches, bundles, witness } = EVIDENCE_MEMBERS;

const envelopeOf = ({ members }: Base): DsseEnvelope =>
  DsseEnvelope.parse(JSON.parse(String(contentOf(members, manifest))));

const manifests: Mutator = {
  name: 'swapped signatures: manifests',
  mutate: (base, random, bases) => {
    const envelope = envelopeOf(base);
    const [own] = envelope.signatures;
    const [theirs] = envelopeOf(pick(bases, random)).signatures;
    if (!own || !theirs || theirs.sig === own.sig) return undefined;
    // With their key's id, or under its own.
    const signature = random(2) === 0 ? theirs : { ...theirs, keyid: own.keyid };
    const swapped = Buffer.from(canonicalize({ ...envelope, signatures: [signature] }));
    return packChanged(base, withContent(base.members, manifest, swapped));
  },
};

/** For the lines of a member: one line's signature on another. */
function ofLines<T>(
  name: string,
  member: string,
  parse: (line: string) => T,
  swap: (line: T, other: T) => T,
): Mutator {
  const read = (base: Base): T[] =>
    linesOf(contentOf(base.members, member) ?? Buffer.alloc(0)).map(parse);
  return {
    name,
    mutate: (base, random, bases) => {
      const own = read(base);
      const other = read(random(2) === 0 ? base : pick(bases, random));
      if (own.length === 0 || other.length === 0) return undefined;
      const at = random(own.length);
      const swapped = own.with(at, swap(own[at] as T, pick(other, random)));
      const content = fromLines(swapped.map((line) => canonicalize(line)));
      return signChanged(base, withContent(base.members, member, content));
    },
  };
}

const ofBatches = ofLines(
  'swapped signatures: batches',
  batches,
  (line) => BatchLine.parse(JSON.parse(line)),
  (line, { signature }) => ({ ...line, signature }),
);

const swapBundles = ofLines(
  'swapped signatures: bundles',
  bundles,
  (line) => BundleLine.parse(JSON.parse(line)),
  (line, { signatures }) => ({ ...line, signatures }),
);
const ofBundles: Mutator = {
  ...swapBundles,
  mutate: (base, random, bases) => {
    // ES256 is randomised: another signature of the same tenant's bundle is as good.
    const others = bases.filter(({ anchor }) => anchor.tenant_id !== base.anchor.tenant_id);
    return swapBundles.mutate(base, random, others);
  },
};

const ofWitnesses = ofLines(
  'swapped signatures: witnesses',
  witness,
  (line) => WitnessLine.parse(JSON.parse(line)),
  (line, { cosignature }) => ({ ...line, cosignature }),
);

const checkpoints: Mutator = {
  name: 'swapped signatures: checkpoints',
  mutate: (base, random, bases) => {
    const notes = (of: Base) => of.members.filter(([name]) => name.startsWith('checkpoints/'));
    const [name, content] = pick(notes(base), random);
    const [, theirs] = pick(notes(pick(bases, random)), random);
    const [body = ''] = String(content).split('\n\n');
    const [, line = ''] = String(theirs).split('\n\n');
    const [origin = ''] = body.split('\n');
    // With their line unchanged, or under the name of this log.
    const signed = random(2) === 0 ? line : line.replace(/^\u2014 \S+/, `\u2014 ${origin}`);
    const swapped = Buffer.from(`${body}\n\n${signed}`);
    return signChanged(base, withContent(base.members, name, swapped));
  },
};

/** Every signature in keys.json: of rotations, writers and log epochs. */
function signaturesIn({ rotations, writers, log_epochs }: EvidenceKeys): { signature: string }[] {
  return [...rotations.flatMap(({ signatures }) => signatures), ...writers, ...log_epochs];
}

const keysOf = ({ members }: Base): EvidenceKeys =>
  EvidenceKeys.parse(JSON.parse(String(contentOf(members, keys))));

const statements: Mutator = {
  name: 'swapped signatures: rotations, writers and log epochs',
  mutate: (base, random, bases) => {
    const own = keysOf(base);
    const other = signaturesIn(random(2) === 0 ? own : keysOf(pick(bases, random)));
    const signed = pick(signaturesIn(own), random);
    signed.signature = pick(other, random).signature;
    const swapped = Buffer.from(canonicalize(own));
    return signChanged(base, withContent(base.members, keys, swapped));
  },
};

export const SIGNATURE_MUTATORS: readonly Mutator[] = [
  manifests,
  ofBatches,
  ofBundles,
  ofWitnesses,
  checkpoints,
  statements,
];
