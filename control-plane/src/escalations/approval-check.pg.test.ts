/**
 * Whoever owns the database writes approvals by hand, into the row of an escalation and into the
 * feed: the service hands none of them over, and everything else of the feed arrives.
 */
import type { FeedEntry } from '@governance/shared/channel/facts';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { uuidv7 } from '@governance/shared/ids';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aDataPlane,
  aDecision,
  aHoldOpened,
  aResultHeld,
} from '../../../tests/support/a-data-plane.ts';
import { writeFactByHand } from '../../../tests/support/fact-by-hand.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { ROLL_OUT_MS } from '../platform/keys/row-attestations.ts';
import { createHoldView } from '../testing/test-escalations.ts';
import { createApprovalCheck } from './approval-check.ts';

const service = await testControlPlane();
const { call, test, aTenantAdmin, controlPlane } = service;
const { signal } = new AbortController();

let token: string;
let scope: TenantScope;
let tenantId: string;
let plane: Awaited<ReturnType<typeof aDataPlane>>;
let id: string;
let ship: () => Promise<void>;

beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token, scope } = admin);
  ({ tenantId } = scope);
  plane = await aDataPlane(test, scope);
  plane.boot();
  ({ ship } = createHoldView(service, { token, tenantId, plane }, 'escalation_'));
  id = await held();
});

const timeout = () => new Date(Date.now() + 60_000).toISOString();

async function held(): Promise<string> {
  const one = uuidv7();
  const decision = aDecision({ policy_result: 'escalate', tool_name: 'delete_thing' });
  plane.append({ ...decision, escalation_id: one });
  plane.append(aHoldOpened(decision, { escalation_id: one, timeout_at: timeout() }));
  await ship();
  return one;
}

const attack = (sql: string, values: unknown[] = []) =>
  test.superuser.query(
    sql.replaceAll('$tenant', `'${tenantId}'`).replaceAll('$id', `'${id}'`),
    values,
  );

const writeFact = (key: string, value: Record<string, unknown>) =>
  writeFactByHand(test.superuser, tenantId, { kind: 'optional.escalation', key, value });

const GRANT = uuidv7();

/** The row, as an approval leaves it, and the fact about it. */
async function approveByHand(): Promise<number> {
  const at = new Date();
  const ends = new Date(at.getTime() + 600_000);
  await attack(
    `UPDATE escalations SET status = 'approved', resolved_at = $1, resolved_by = 'admin',
       grant_id = $2, grant_expires_at = $3, is_in_feed = true WHERE tenant_id = $tenant AND id = $id`,
    [at, GRANT, ends],
  );
  return writeFact(`${plane.deploymentId}/${id}`, {
    escalation_id: id,
    deployment_id: plane.deploymentId,
    resolution: 'approved',
    resolved_at: at.toISOString(),
    grant: { id: GRANT, expires_at: ends.toISOString() },
  });
}

const read = (cursor = 0, digest = FEED_START, limit = 500) =>
  controlPlane.feedReader.readFeed({ tenantId, cursor, digest, limit, waitMs: 0, signal });

async function snapshot(): Promise<{ entries: FeedEntry[]; seq: number; digest: string }> {
  const entries: FeedEntry[] = [];
  const pages = controlPlane.feedReader.readSnapshot({ tenantId, signal });
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const { count, feed_seq: seq, feed_digest: digest } = page.value.statement;
      expect(count).toBe(entries.length);
      return { entries, seq, digest };
    }
    entries.push(...page.value);
  }
}

const approvals = (entries: readonly FeedEntry[]) =>
  entries.filter(({ kind, value }) => kind === 'optional.escalation' && value !== null);
const alerts = async () =>
  (await call('/api/v1/monitor/alerts', { token }))
    .json()
    .alerts.filter((one: { alert_type: string }) => one.alert_type === 'APPROVAL_NOT_RECORDED');
const approve = (of = id) => call(`/api/v1/escalations/${of}/approve`, { token, method: 'POST' });

describe('an approval that a hand wrote into the database', () => {
  it('is handed to nobody, and everything else arrives', async () => {
    const seq = await approveByHand();
    await expect(read()).rejects.toMatchObject({ code: 'FEED_RESET' });
    // Pages before it are not proven without it.
    await expect(read(0, FEED_START, 1)).rejects.toMatchObject({ code: 'FEED_RESET' });
    const now = await snapshot();
    expect(now.seq).toBe(seq);
    expect(approvals(now.entries)).toEqual([]);
    await vi.waitFor(async () =>
      expect(await alerts()).toMatchObject([
        {
          ...{ severity: 'critical', status: 'open' },
          details: {
            ...{ escalation_id: id, grant_id: GRANT, fault: 'no admin record says so' },
            remedy: expect.stringContaining('have the call made again'),
          },
        },
      ]),
    );
    expect((await call('/metrics')).body).toMatch(/approvals_withheld_total [1-9]/);

    // The data plane reads on behind the snapshot, and gets what people do decide.
    const other = await held();
    expect((await approve(other)).statusCode).toBe(200);
    const page = await read(now.seq, now.digest);
    expect(approvals(page.entries)).toMatchObject([{ value: { escalation_id: other } }]);
    expect(await alerts()).toHaveLength(1);
  });

  it('needs no row to be withheld', async () => {
    id = uuidv7();
    const value = {
      escalation_id: id,
      deployment_id: plane.deploymentId,
      resolution: 'approved',
      resolved_at: new Date().toISOString(),
      grant: { id: GRANT, expires_at: new Date(Date.now() + 600_000).toISOString() },
    };
    await writeFact(`${plane.deploymentId}/${id}`, value);
    await expect(read()).rejects.toMatchObject({ code: 'FEED_RESET' });
    expect(approvals((await snapshot()).entries)).toEqual([]);
  });

  it.each([
    [
      'a denial that was turned round',
      `status = 'approved', grant_id = '${GRANT}', grant_expires_at = now() + interval '10 minutes'`,
    ],
    ['an approval under another grant', `grant_id = '${GRANT}'`],
    ['one that lasts longer', `grant_expires_at = grant_expires_at + interval '1 day'`],
    ['one for another data plane', 'deployment_id = gen_random_uuid()'],
  ])('is %s', async (what, set) => {
    const decided = await call(
      `/api/v1/escalations/${id}/${what.includes('denial') ? 'deny' : 'approve'}`,
      {
        ...{ token, method: 'POST' },
      },
    );
    expect(decided.statusCode, decided.body).toBe(200);
    await attack(`UPDATE escalations SET ${set} WHERE tenant_id = $tenant AND id = $id`);
    const { rows } = await attack(
      'SELECT * FROM escalations WHERE tenant_id = $tenant AND id = $id',
    );
    const { deployment_id, resolved_at, grant_id, grant_expires_at } = rows[0];
    const expires_at = (grant_expires_at ?? new Date(Date.now() + 600_000)).toISOString();
    await attack(
      'UPDATE escalations SET grant_expires_at = $1 WHERE tenant_id = $tenant AND id = $id',
      [expires_at],
    );
    await writeFact(`${deployment_id}/${id}`, {
      ...{ escalation_id: id, deployment_id, resolution: 'approved' },
      ...{ resolved_at: resolved_at.toISOString(), grant: { id: grant_id, expires_at } },
    });
    await expect(read()).rejects.toMatchObject({ code: 'FEED_RESET' });
    expect(approvals((await snapshot()).entries).map(({ value }) => value)).not.toContainEqual(
      expect.objectContaining({ grant: { id: grant_id, expires_at } }),
    );
  });
});

describe('an approval that a person gave', () => {
  it('arrives by pages and by snapshots, of a call and of a result', async () => {
    expect((await approve()).statusCode).toBe(200);
    const result = uuidv7();
    const decision = aDecision({ tool_name: 'read_page' });
    plane.append(decision);
    plane.append(aResultHeld(decision, { escalation_id: result, timeout_at: timeout() }));
    await ship();
    const released = await call(`/api/v1/inbound/holds/${result}/resolve`, {
      ...{ token, body: { resolution: 'allow_original' } },
    });
    expect(released.statusCode, released.body).toBe(200);
    for (const entries of [(await read()).entries, (await snapshot()).entries]) {
      expect(approvals(entries).map(({ value }) => value)).toMatchObject(
        entries.length > 0
          ? expect.arrayContaining([
              expect.objectContaining({ escalation_id: id, resolution: 'approved' }),
              expect.objectContaining({ escalation_id: result, release: 'original' }),
            ])
          : [],
      );
    }
    expect(await alerts()).toEqual([]);
    // A release of less cannot be made one of more.
    await attack(`UPDATE escalations SET release = 'sanitized' WHERE id = $1`, [result]);
    await expect(read()).rejects.toMatchObject({ code: 'FEED_RESET' });
  });

  it('through an earlier version arrives by its record while an upgrade may be rolled out', async () => {
    expect((await approve()).statusCode).toBe(200);
    await attack(
      'UPDATE escalations SET record_id = NULL, attestation = NULL WHERE tenant_id = $tenant',
    );
    const { entries } = await read();
    expect(approvals(entries)).toHaveLength(1);
    const withheldAfter = async (elapsed: number, now = new Date()) => {
      const find = await createApprovalCheck({
        ...{
          db: controlPlane.db,
          attestations: controlPlane.attestations,
          registry: new Registry(),
        },
        ...{ log: { error: () => undefined }, now: () => now, elapsed: () => elapsed },
      })();
      return test.db.inTenant(scope, async (tx) => (await find(tx, entries)).size);
    };
    expect(await withheldAfter(ROLL_OUT_MS - 1)).toBe(0);
    expect(await withheldAfter(ROLL_OUT_MS)).toBe(1);
    // Long after its grant has ended it is history.
    expect(await withheldAfter(ROLL_OUT_MS, new Date(Date.now() + 2 * 60 * 60_000))).toBe(0);
    await attack(`DELETE FROM ledger_records WHERE bytes LIKE '{"action":"escalation_approved"%'`);
    expect(await withheldAfter(0)).toBe(1);
  });
});
