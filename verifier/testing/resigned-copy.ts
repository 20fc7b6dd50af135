/**
 * What the holder of a package, or the issuer, can do with its members: change them, and recompute
 * the digests of the manifest. The issuer signs it again; nobody can without the key.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { DsseEnvelope, payloadOf, signEnvelope } from '@governance/shared/evidence/dsse';
import {
  EVIDENCE_MEMBERS,
  EVIDENCE_PAYLOAD_TYPE,
  EvidenceManifest,
  VOLUME_LIMITS,
} from '@governance/shared/evidence/evidence-package';
import { readMembers } from '@governance/shared/evidence/package-source';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { type Members, packMembers } from './package-builder.ts';

/** The members of a package, in their order. */
export async function unpack(archive: Uint8Array): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  for await (const { name, content } of readMembers(Readable.from([archive]), VOLUME_LIMITS)) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    members.set(name, Buffer.concat(pieces));
  }
  return members;
}

/** Size and digest of each file in its present form. */
export function digestAgain(
  files: EvidenceManifest['files'],
  members: ReadonlyMap<string, Buffer>,
): EvidenceManifest['files'] {
  return files.map(({ name }) => {
    const content = members.get(name) ?? Buffer.alloc(0);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { name, size: content.length, sha256 };
  });
}

/**
 * A copy in which one member of lines is changed.
 *
 * @param change receives the member's lines, and returns the new ones
 * @param signer the issuer's key of purpose `evidence`; without it the old signature stays
 * @throws Error when nothing was changed
 */
export async function changeLines(
  archive: Uint8Array,
  member: keyof typeof EVIDENCE_MEMBERS,
  change: (lines: string[]) => string[],
  signer?: { kid: string; key: KeyObject },
): Promise<Buffer> {
  const members = await unpack(archive);
  const name = EVIDENCE_MEMBERS[member];
  const before = String(members.get(name));
  const after = change(before.split('\n').slice(0, -1));
  members.set(name, Buffer.from(after.map((line) => `${line}\n`).join('')));
  if (String(members.get(name)) === before) throw new Error('nothing was changed');
  const envelope = DsseEnvelope.parse(JSON.parse(String(members.get(EVIDENCE_MEMBERS.manifest))));
  const manifest = EvidenceManifest.parse(JSON.parse(payloadOf(envelope).toString('utf8')));
  manifest.files = digestAgain(manifest.files, members);
  const payload = Buffer.from(canonicalize(manifest));
  const sealed = signer
    ? signEnvelope(EVIDENCE_PAYLOAD_TYPE, payload, signer)
    : { ...envelope, payload: payload.toString('base64') };
  members.set(EVIDENCE_MEMBERS.manifest, Buffer.from(canonicalize(sealed)));
  return packMembers([...members] satisfies Members);
}
