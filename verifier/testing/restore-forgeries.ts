/**
 * What an operator may falsely claim about restores, real or invented. Each claim is signed with
 * the issuer's own keys, and read with an earlier anchor.
 */

import { logOrigin } from '@governance/shared/evidence/checkpoint';
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { signEvidenceStatement } from '@governance/shared/evidence/evidence-keys';

import { recordHash } from '@governance/shared/ledger/hash-chain';
import type { Forgery } from './forgery.ts';
import { callSomewhereElse } from './good-packages.ts';
import { aPackage, type PackageParts, packMembers, sealPackage } from './package-builder.ts';
import { anEd25519Key, idOf } from './test-keys.ts';
import { aStory } from './test-stories.ts';
import { TestTenant } from './test-tenant.ts';

/** The anchor is from when the log had this many leaves, unless stated otherwise. */
const PINNED = 3;

interface Lie {
  /** What happens to the log after the anchor was handed out. */
  stage(tenant: TestTenant): void;
  /** Size of the anchor. */
  pinned?: number;
  /** What the package claims about the log, contrary to the truth. */
  change?(parts: PackageParts, tenant: TestTenant): void;
}

function lie(name: string, { stage, pinned = PINNED, change }: Lie, check?: CheckName): Forgery {
  return {
    name,
    check: check ?? 'log.consistency',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(pinned);
      stage(tenant);
      const parts = aPackage(tenant, { anchorSizes: [pinned] });
      change?.(parts, tenant);
      return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
    },
  };
}

/** A real restore to the fourth leaf. */
function restore(tenant: TestTenant): void {
  tenant.restoreTo(4);
  callSomewhereElse(tenant);
}

const placeOf = (tenant: TestTenant, size: number, epoch = 1) => ({
  ...{ epoch, size },
  root: tenant.rootOf(size),
});

export const RESTORE_FORGERIES: readonly Forgery[] = [
  lie('an anchor of a part of the log that a restore lost', { pinned: 6, stage: restore }),
  lie('an anchor of a lost part that the announcement does not speak of', {
    pinned: 6,
    stage: (tenant) => {
      tenant.restoreTo(4, { highest_lost: null });
      callSomewhereElse(tenant);
    },
  }),
  lie('a restore announced from a root that the log never had', {
    stage: (tenant) => {
      const root = recordHash(Buffer.from('never'));
      tenant.restoreTo(4, { restored: { epoch: 1, size: 4, root } });
      callSomewhereElse(tenant);
    },
  }),
  lie('a restore announced to have kept more than it did', {
    stage: (tenant) => {
      tenant.restoreTo(4, { restored: placeOf(tenant, 6) });
      callSomewhereElse(tenant);
    },
  }),
  lie('a restore announced from an empty log that was none', {
    stage: (tenant) => {
      tenant.restoreTo(0, { restored: { epoch: 1, size: 0, root: tenant.rootOf(4) } });
      tenant.leaves = aStory().tenant.leaves;
    },
  }),
  {
    name: 'a log written anew behind an announced restore',
    check: 'log.consistency',
    make: () => {
      const anchor = aStory().tenant.anchor(PINNED);
      const tenant = new TestTenant('story');
      const one = tenant.plane('plane-1');
      for (let i = 0; i < 8; i++) {
        tenant.decide(one, { tool_name: 'harmless' });
        one.ship();
      }
      tenant.restoreTo(5);
      callSomewhereElse(tenant);
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
    },
  },
  {
    name: 'a second restore that lost an anchor of the epoch between',
    check: 'log.consistency',
    make: () => {
      const { tenant } = aStory();
      tenant.restoreTo(4);
      callSomewhereElse(tenant);
      const anchor = tenant.anchor(7);
      tenant.restoreTo(5);
      const plane = tenant.plane('plane-4');
      for (let i = 0; i < 4; i++) {
        tenant.decide(plane);
        plane.ship();
      }
      const parts = aPackage(tenant, { anchorSizes: [7] });
      return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
    },
  },
  {
    name: 'an anchor of an epoch that the statements leave out',
    check: 'log.consistency',
    make: () => {
      const { tenant } = aStory();
      const [kept, before] = [tenant.leaves.slice(0, 4), placeOf(tenant, 4)];
      tenant.restoreTo(4);
      callSomewhereElse(tenant);
      const anchor = tenant.anchor(6);
      tenant.leaves = kept;
      tenant.logEpochs = [];
      tenant.restoreTo(4, { restored: before });
      const plane = tenant.plane('plane-4');
      for (let i = 0; i < 4; i++) {
        tenant.decide(plane);
        plane.ship();
      }
      const parts = aPackage(tenant, { anchorSizes: [6] });
      return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
    },
  },
  lie('two statements that begin one log epoch', {
    stage: restore,
    change: (parts, tenant) => {
      const [first] = parts.keys.log_epochs;
      if (!first) return;
      const statement = { ...first.statement, restored: placeOf(tenant, 3) };
      parts.keys.log_epochs.push(signEvidenceStatement(tenant.keys.checkpoint, statement));
    },
  }),
  lie('a log epoch that goes on from itself', {
    stage: (tenant) => {
      tenant.restoreTo(4, { restored: placeOf(tenant, 4, 2) });
      callSomewhereElse(tenant);
    },
  }),
  lie('no proof of where the log was restored', {
    stage: restore,
    change: (parts) => {
      parts.proofs.consistency = parts.proofs.consistency.filter(({ from }) => from === PINNED);
    },
  }),
  lie('a restore of another tenant', {
    stage: restore,
    change: (parts, tenant) => {
      parts.keys.log_epochs = parts.keys.log_epochs.map(({ statement }) =>
        signEvidenceStatement(tenant.keys.checkpoint, { ...statement, tenant_id: idOf('other') }),
      );
    },
  }),
  lie(
    'a restore announced by an attacker',
    {
      stage: restore,
      change: (parts, tenant) => {
        const attacker = anEd25519Key('attacker-checkpoint');
        parts.keys.keys.push(tenant.entryOf('checkpoint', attacker));
        parts.keys.log_epochs = parts.keys.log_epochs.map(({ statement }) =>
          signEvidenceStatement(attacker, statement),
        );
      },
    },
    'keys.anchored',
  ),
  lie('a statement of a restore that was changed', {
    stage: restore,
    change: (parts, tenant) => {
      for (const { statement } of parts.keys.log_epochs) statement.restored = placeOf(tenant, 3);
    },
  }),
  lie(
    'the checkpoint of the epoch before',
    {
      stage: restore,
      change: (parts, tenant) => {
        const { end } = parts.manifest.log;
        parts.manifest.log.epoch = 1;
        parts.manifest.log.origin = logOrigin(tenant.id, 1);
        parts.checkpoints.set(end, tenant.checkpoint(end, 2));
      },
    },
    'proof.binding',
  ),
];
