import { generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import {
  aDecision,
  aHoldOpened,
  anOutcome,
  aPolicyAlert,
  aResultHeld,
  createWriter,
} from '../../../../tests/support/a-data-plane.ts';
import { noteRevisions } from './volume-content.ts';

it('each record names one revision, whatever its details and findings name', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const writer = createWriter(uuidv7(), uuidv7(), privateKey);
  const list = Array.from({ length: 30 }, (_, n) => ({ bundle_revision: 100 + n }));
  const decision = aDecision({
    bundle_revision: 2,
    dlp_findings: list.map((one) => ({ severity: 'low' as const, ...one })),
  });
  writer.boot();
  writer.append(decision);
  writer.append({ ...aPolicyAlert(), bundle_revision: 3, details: { list } });
  writer.append({ ...aHoldOpened(decision), bundle_revision: 4 });
  writer.append({ ...aResultHeld(decision), bundle_revision: 4 });
  writer.append({ ...anOutcome(decision.id), bundle_revision: 5 });
  writer.append({ ...aDecision({ bundle_revision: 0, target: '"bundle_revision":6' }) });
  const revisions = new Set<number>();
  noteRevisions(revisions, writer.records.map(({ bytes }) => bytes.toString()).join('\n'));
  expect([...revisions]).toEqual([2, 3, 4, 5, 0]);
});
