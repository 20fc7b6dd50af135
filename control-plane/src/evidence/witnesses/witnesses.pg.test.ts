/** Witnesses that follow C2SP tlog-witness, and some that do not. */
import {
  isCosignedBy,
  parseCheckpoint,
  parseSignature,
} from '@governance/shared/evidence/checkpoint';
import { createOutboundClient } from '@governance/shared/outbound/outbound-client';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aWitness } from '../../../../tests/support/a-witness.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { createWitnessTask } from './witness-task.ts';

vi.setConfig({ testTimeout: 60_000 });

const NAME = 'witness.example/w1';
const double = await aWitness(NAME);
const { asked } = double;

let time = Date.now();
const { call, aTenantAdmin, controlPlane, test } = await testControlPlane({
  now: () => new Date(time),
  env: {
    SERVICE_CHECKPOINT_SECONDS: '1',
    SERVICE_EVIDENCE_WITNESS_URLS: double.setting,
  },
});
const { db, breaks, config } = controlPlane;
const task = createWitnessTask({
  ...{
    db,
    breaks,
    witnesses: config.witnesses,
    outbound: createOutboundClient({ allow: null, isProduction: true }),
    registry: new Registry(),
    now: () => new Date(time),
  },
});
double.logKey = (await controlPlane.serviceKeys.evidenceKey('checkpoint')).publicJwk;

let token: string;
let tenantId: string;
beforeEach(async () => {
  double.manner = 'honest';
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
});

const newest = async () =>
  (await call('/api/v1/evidence/checkpoints', { token })).json().checkpoints[0];
const witness = async () =>
  (await call('/api/v1/evidence/witnesses', { token })).json().witnesses[0];
const cosign = () => task.cosign(tenantId, new AbortController().signal);

async function grow(): Promise<number> {
  const before = (await newest())?.size ?? 0;
  const body = { name: `role-${before}-${time}`, description: '', permissions: [] };
  expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
  return vi.waitFor(
    async () => {
      const { size = 0 } = (await newest()) ?? {};
      if (size <= before) throw new Error('the log has not grown');
      return size;
    },
    { timeout: 20_000, interval: 100 },
  );
}

describe('a witness', () => {
  it('cosigns what continues the log, and its line is kept with the checkpoint', async () => {
    for (let n = 0; n < 3; n++) {
      const size = await grow();
      await cosign();
      expect(await witness()).toMatchObject({ name: NAME, size, failure: null });
    }
    const { rows } = await test.superuser.query(
      'SELECT size, note, line FROM log_cosignatures WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows.length).toBeGreaterThanOrEqual(3);
    for (const { note, line } of rows) {
      const { body } = parseCheckpoint(note);
      expect(isCosignedBy(body, parseSignature(line), { name: NAME, key: double.jwk })).toBe(true);
    }
  });

  it('is asked from the size that it names, where another is remembered here', async () => {
    await grow();
    await cosign();
    await test.superuser.query('DELETE FROM log_witnesses WHERE tenant_id = $1', [tenantId]);
    const size = await grow();
    asked.length = 0;
    await cosign();
    expect(asked[0]).toBe('POST /w/add-checkpoint old 0');
    expect(await witness()).toMatchObject({ size, failure: null });
  });

  it.each([
    ['forges', 'its cosignature does not verify'],
    ['redirects', 'it answered 307'],
    ['large', 'the answer is too large'],
    ['dies', 'the connection failed: ECONNRESET'],
  ] as const)('that %s is shown as failing, nothing is kept, and it rests', async (how, failure) => {
    double.manner = how;
    await grow();
    await cosign();
    expect(await witness()).toMatchObject({ size: 0, failure, cosigned_at: null });
    time += 60_000;
    await cosign();
    asked.length = 0;
    time += 30_000;
    await cosign();
    expect(asked).toEqual([]);
    double.manner = 'honest';
    time += 60_000;
    await cosign();
    expect(await witness()).toMatchObject({ failure: null, failing_since: null });
  });

  it('that failed while the clock was ahead is asked once the clock is right', async () => {
    double.manner = 'dies';
    await grow();
    const right = time;
    time += 400 * 86_400_000;
    await cosign();
    time += 3_600_000;
    await cosign();
    time = right + 60_000;
    expect((await witness()).failure).not.toBeNull();
    double.manner = 'honest';
    await cosign();
    expect(await witness()).toMatchObject({ failure: null, failing_since: null });
  });

  it('in its pause is asked nevertheless when somebody waits for a package', async () => {
    double.manner = 'dies';
    await grow();
    await cosign();
    time += 3_600_000;
    await cosign();
    double.manner = 'honest';
    time += 1_000;
    await cosign();
    expect((await witness()).failure).not.toBeNull();
    await task.cosignNow(tenantId, new AbortController().signal);
    expect(await witness()).toMatchObject({ failure: null, failing_since: null });
  });

  it('that holds a larger log than there is makes a break, once', async () => {
    double.manner = 'ahead';
    await grow();
    for (let n = 0; n < 3; n++) {
      await cosign();
      time += 3_600_000;
    }
    const { breaks } = (await call('/api/v1/audit/chain/breaks', { token })).json();
    expect(breaks).toMatchObject([{ kind: 'log_went_back', seq: 999 }]);
  });
});
