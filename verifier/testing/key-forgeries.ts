/**
 * Misuse of keys, and encodings of keys, notes and salts that some readers accept and others
 * reject. The issuer signs manifests unless stated otherwise.
 */
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { signRotation } from '@governance/shared/evidence/evidence-keys';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import type { Forgery } from './forgery.ts';
import { aPackage, type PackageParts, packMembers, sealPackage } from './package-builder.ts';
import { aBundleKey, anEd25519Key, type TestKey } from './test-keys.ts';
import { aStory, type Story } from './test-stories.ts';
import type { TestStream, TestTenant } from './test-tenant.ts';
import { cosign, WITNESSES } from './witnessed-packages.ts';

const PINNED = 3;

interface Lie {
  /** The scenario, and its anchor; without one, the earlier anchor. */
  stage?(story: Story): TrustAnchor | undefined;
  change?(parts: PackageParts, story: Story): void;
  /** Who signs the manifest. */
  signer?: TestKey;
}

function lie(name: string, check: CheckName, { stage, change, signer }: Lie): Forgery {
  return {
    name,
    check,
    make: () => {
      const story = aStory();
      const { tenant } = story;
      const before = tenant.anchor(PINNED);
      const anchor = stage?.(story) ?? before;
      const parts = aPackage(tenant, { anchorSizes: [PINNED], payloads: true });
      change?.(parts, story);
      const members = sealPackage(parts, signer ?? tenant.keys.evidence);
      return { bytes: packMembers(members), anchor };
    },
  };
}

/** The neutral one of the points of small order: R is it, S is 0, and that holds for any text. */
const NEUTRAL = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
const FOR_ANY_TEXT = Buffer.concat([NEUTRAL, Buffer.alloc(32)]).toString('base64url');

/** The writer's statement names this key, vouched for by the issuer. */
function writesWith(tenant: TestTenant, stream: TestStream, jwk: TestKey['jwk']): void {
  tenant.writers = tenant.writers.map((signed) =>
    signed.statement.stream === stream.id
      ? tenant.signWriter({ ...signed.statement, jwk })
      : signed,
  );
}

/** In one stream, before the two keys that sign its batches alternately. */
const DECOYS = 1_900;
/** Each alternation tries the decoys, the first of all keys and the previous batch's key. */
const TURNS = 11;

/** A stream with so many writer keys that the search for the signing one exceeds its budget. */
function signInTurns(tenant: TestTenant, stream: TestStream): void {
  const [known] = tenant.writers.filter(({ statement }) => statement.stream === stream.id);
  if (!known) return;
  const decoy = { ...known.statement, jwk: anEd25519Key('decoy').jwk };
  for (let i = 0; i < DECOYS; i++) {
    tenant.writers.push(tenant.signWriter({ ...decoy, kid: `decoy-${i}` }));
  }
  const keys = ['turn-1', 'turn-2'].map(anEd25519Key) as [TestKey, TestKey];
  for (const { kid, jwk } of keys) {
    tenant.writers.push(tenant.signWriter({ ...known.statement, kid, jwk }));
  }
  for (let turn = 0; turn < TURNS; turn++) {
    stream.key = keys[turn % 2] as TestKey;
    tenant.decide(stream);
    stream.ship();
  }
}

export const KEY_FORGERIES: readonly Forgery[] = [
  lie('a retired key that names a successor, dated back', 'keys.anchored', {
    signer: anEd25519Key('attacker'),
    stage: ({ tenant }) => {
      const retired = tenant.keys.evidence;
      const at = tenant.now();
      tenant.wait(600);
      tenant.rotate('evidence', anEd25519Key('evidence-2'));
      const anchor = tenant.anchor(PINNED);
      const attacker = anEd25519Key('attacker');
      const statement = { ...tenant.rotationTo('evidence', attacker, at), old_kid: retired.kid };
      tenant.rotations.push(signRotation(statement, retired, attacker));
      tenant.entries.push(tenant.entryOf('evidence', attacker, at));
      return anchor;
    },
  }),
  lie('a rotation of a bundle key that the key before did not sign', 'keys.anchored', {
    stage: ({ tenant, one }) => {
      const next = aBundleKey('bundle-2');
      const stranger = { ...aBundleKey('stranger'), kid: tenant.keys.bundle.kid };
      const statement = tenant.rotationTo('bundle', next, tenant.now());
      tenant.rotations.push(signRotation(statement, stranger, next));
      tenant.entries.push(tenant.entryOf('bundle', next));
      tenant.keys.bundle = next;
      tenant.publish(8);
      tenant.decide(one, { bundle_revision: 8 });
      one.ship();
      return undefined;
    },
  }),
  lie('a writer with a key of small order', 'batch.signature', {
    stage: ({ tenant, one }) => {
      writesWith(tenant, one, { kty: 'OKP', crv: 'Ed25519', x: NEUTRAL.toString('base64url') });
      for (const leaf of tenant.leaves) {
        if (leaf.header.stream === one.id) leaf.signature = FOR_ANY_TEXT;
      }
      return tenant.anchor(PINNED);
    },
  }),
  lie('a key in another writing', 'batch.signature', {
    stage: ({ tenant, one }) => {
      writesWith(tenant, one, { ...one.key.jwk, x: `${one.key.jwk.x}=` });
      return undefined;
    },
  }),
  lie('more keys tried in vain than a package may have', 'batch.signature', {
    stage: ({ tenant, two }) => {
      signInTurns(tenant, two);
      return undefined;
    },
  }),
  lie('a checkpoint behind a byte order mark', 'checkpoint.signature', {
    change: ({ checkpoints }, { tenant }) => {
      const size = tenant.leaves.length;
      checkpoints.set(size, `\ufeff${checkpoints.get(size)}`);
    },
  }),
  lie('a salt in another writing', 'json.strict', {
    change: ({ payloads }) => {
      const [payload] = payloads;
      if (payload) payload.salt = payload.salt.replace(/.$/, (last) => AFTER[last] ?? last);
    },
  }),
  {
    name: 'checkpoints in another order',
    check: 'container.members',
    make: () => {
      const { tenant } = aStory();
      const [end, later] = [6, 8];
      const parts = aPackage(tenant, { end, anchorSizes: [PINNED, later] });
      parts.checkpoints.set(later, tenant.checkpoint(later));
      for (const [size, note] of parts.checkpoints) {
        for (const by of ['w1', 'w2']) parts.witness.push({ size, cosignature: cosign(note, by) });
      }
      const members = sealPackage(parts, tenant.keys.evidence);
      const at = members.findIndex(([name]) => name.startsWith('checkpoints/'));
      const [first, second] = members.slice(at, at + 2) as [
        (typeof members)[0],
        (typeof members)[0],
      ];
      const bytes = packMembers(members.with(at, second).with(at + 1, first));
      return { bytes, anchor: tenant.anchor(PINNED, { witnesses: WITNESSES }) };
    },
  },
];

/**
 * The last character of 16 bytes has four spare bits: other characters decode to the same bytes.
 */
const AFTER: Record<string, string> = { A: 'B', Q: 'R', g: 'h', w: 'x' };
