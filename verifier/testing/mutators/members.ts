/** Operations of mutators on members: change one, compare, and re-sign the manifest over them. */
import { gzipSync } from 'node:zlib';
import type { EvidenceManifest } from '@governance/shared/evidence/evidence-package';
import { archiveOf, type Members, signMembers } from '../package-builder.ts';
import type { Base, Mutated } from './mutator.ts';

export const contentOf = (members: Members, name: string): Buffer | undefined =>
  members.find(([own]) => own === name)?.[1];

export const withContent = (members: Members, name: string, content: Buffer): Members =>
  members.map(([own, before]): Members[number] => [own, own === name ? content : before]);

export const linesOf = (content: Buffer): string[] =>
  content.toString('utf8').split('\n').slice(0, -1);

export const fromLines = (lines: readonly string[]): Buffer =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''));

export function isSameMembers(one: Members, other: Members): boolean {
  return (
    one.length === other.length &&
    one.every(([name, content], i) => {
      const [otherName, otherContent] = other[i] as Members[number];
      return name === otherName && content.equals(otherContent);
    })
  );
}

/** Fast compression: a run makes many. */
export const packed = (members: Members): Mutated => ({
  bytes: gzipSync(archiveOf(members), { level: 1 }),
});

/** Packs members as they are; undefined if they equal the base's. */
export function packChanged(base: Base, members: Members): Mutated | undefined {
  return isSameMembers(members, base.members) ? undefined : packed(members);
}

/** Packs members that the issuer re-signs; undefined if they equal the base's. */
export function signChanged(
  base: Base,
  members: Members,
  manifest: EvidenceManifest = base.parts.manifest,
): Mutated | undefined {
  const [first, ...others] = members;
  const before = base.members.slice(1);
  const isSame = manifest === base.parts.manifest && isSameMembers(others, before);
  if (!first || isSame) return undefined;
  return packed(signMembers(manifest, others, base.signer));
}
