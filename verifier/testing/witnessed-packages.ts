/** Packages for an anchor that names witnesses: what these cosigned, and what they did not. */
import { logOrigin, parseCheckpoint, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { cosignCheckpoint } from '@governance/shared/testing/test-evidence';
import { aPackage, type PackageParts, packMembers, sealPackage } from './package-builder.ts';
import { anEd25519Key, idOf } from './test-keys.ts';
import { aStory } from './test-stories.ts';
import { type TestTenant, timeOf } from './test-tenant.ts';

interface Witnessed {
  name: string;
  make(): { bytes: Buffer; anchor: TrustAnchor };
}

const PINNED = 3;
const END = 6;
/** Of the checkpoint that witnesses saw. */
const LATER = 8;
const AT = 1_767_323_045;
const witness = (name: string) => ({ name, ...anEd25519Key(`witness-${name}`) });
const NAMED = ['w1', 'w2', 'w3'];

/** More than half of these must cosign. */
export const WITNESSES = NAMED.map(witness).map(({ name, jwk }) => ({ name, key: jwk }));

/** A witness's line for a note. */
export function cosign(note: string, by: string): string {
  return cosignCheckpoint(parseCheckpoint(note).body, witness(by), AT);
}

interface Given {
  tenant: TestTenant;
  parts: PackageParts;
  /** Has these witnesses cosign a checkpoint; the line claims to be for `size`. */
  cosign(note: string, size: number, by: readonly string[]): void;
}

function witnessed(name: string, cosigned: (given: Given) => void): Witnessed {
  const make = () => {
    const { tenant } = aStory();
    const parts = aPackage(tenant, { end: END, anchorSizes: [PINNED, LATER] });
    const given: Given['cosign'] = (note, size, by) => {
      for (const one of by) parts.witness.push({ size, cosignature: cosign(note, one) });
    };
    cosigned({ tenant, parts, cosign: given });
    const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
    return { bytes, anchor: tenant.anchor(PINNED, { witnesses: WITNESSES }) };
  };
  return { name, make };
}

const own = ({ parts }: Given) => parts.checkpoints.get(END) ?? '';

/** Puts a later checkpoint into the package. */
function later(
  { tenant, parts }: Given,
  given: { origin?: string; root?: string; size?: number } = {},
): string {
  const origin = logOrigin(tenant.id, tenant.logEpoch);
  const checkpoint = { origin, size: LATER, root: tenant.rootOf(LATER), time: timeOf(500) };
  const note = signCheckpoint({ ...checkpoint, ...given }, tenant.keys.checkpoint.key);
  parts.checkpoints.set(LATER, note);
  return note;
}

const anotherRoot = recordHash(Buffer.from('another tree'));

export const WITNESSED_PACKAGES: readonly Witnessed[] = [
  witnessed('cosigned by more than half of the witnesses', (given) =>
    given.cosign(own(given), END, ['w1', 'w3']),
  ),
  witnessed('leading to a later checkpoint that witnesses cosigned', (given) =>
    given.cosign(later(given), LATER, ['w1', 'w2']),
  ),
  witnessed('cosigned by one witness here and by another later', (given) => {
    given.cosign(own(given), END, ['w1']);
    given.cosign(later(given), LATER, ['w2']);
  }),
];

export const WITNESS_FORGERIES: readonly Witnessed[] = [
  witnessed('fewer witnesses than more than half', (given) => {
    given.cosign(own(given), END, ['w1']);
    given.cosign(later(given), LATER, ['w1']);
  }),
  witnessed('cosignatures of another root', (given) => {
    const { checkpoint } = parseCheckpoint(own(given));
    const { key } = given.tenant.keys.checkpoint;
    given.cosign(signCheckpoint({ ...checkpoint, root: anotherRoot }, key), END, NAMED);
  }),
  witnessed('cosignatures of another size', (given) => given.cosign(later(given), END, NAMED)),
  witnessed('cosignatures of the log of another tenant', (given) => {
    const origin = logOrigin(idOf('another tenant'), 1);
    given.cosign(later(given, { origin }), LATER, NAMED);
  }),
  witnessed('cosignatures of another epoch of the log', (given) => {
    const origin = logOrigin(given.tenant.id, 2);
    given.cosign(later(given, { origin }), LATER, NAMED);
  }),
  witnessed('cosignatures by witnesses that the anchor does not name', (given) =>
    given.cosign(own(given), END, ['w4', 'w5', 'w6']),
  ),
  witnessed('cosignatures by another key of the same name', (given) => {
    const { body } = parseCheckpoint(own(given));
    for (const name of NAMED) {
      const other = { name, key: anEd25519Key('attacker').key };
      given.parts.witness.push({ size: END, cosignature: cosignCheckpoint(body, other, AT) });
    }
  }),
  witnessed('a later cosigned checkpoint without a proof', (given) => {
    given.cosign(later(given), LATER, NAMED);
    const { proofs } = given.parts;
    proofs.consistency = proofs.consistency.filter(({ to }) => to !== LATER);
  }),
  witnessed('a later cosigned checkpoint of a log that went another way', (given) =>
    given.cosign(later(given, { root: anotherRoot }), LATER, NAMED),
  ),
  witnessed('a checkpoint of another size in the place of a later one', (given) =>
    given.cosign(later(given, { size: LATER + 1 }), LATER, NAMED),
  ),
  witnessed('cosignatures of an earlier checkpoint', (given) => {
    const note = given.tenant.checkpoint(PINNED);
    given.parts.checkpoints.set(PINNED, note);
    given.cosign(note, PINNED, NAMED);
  }),
];
