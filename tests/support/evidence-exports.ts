/** Exports of a control plane under test, as sets of volumes. */
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { uuidv7 } from '@governance/shared/ids';
import { expect, vi } from 'vitest';
import { unpack } from '../../verifier/testing/resigned-copy.ts';
import type { TestControlPlane } from './test-control-plane.ts';

export const PACKAGES = '/api/v1/evidence/packages';

/** @param scope the time that is exported where a test names no other */
export function createEvidenceExports(
  { call, test }: Pick<TestControlPlane, 'call' | 'test'>,
  scope: { from: string; to: string },
) {
  async function volumesOf(token: string, id: string): Promise<Buffer[]> {
    const made = await vi.waitFor(
      async () => {
        const { status, volumes, failure } = (await call(`${PACKAGES}/${id}`, { token })).json();
        expect(status, failure ?? '').toBe('ready');
        return volumes as { download: string }[];
      },
      { timeout: 60_000, interval: 100 },
    );
    const bytes: Buffer[] = [];
    for (const { download } of made) bytes.push((await call(download, { token })).rawPayload);
    return bytes;
  }
  return {
    anchorOf: async (token: string) =>
      TrustAnchor.parse((await call('/api/v1/evidence/trust-anchor', { token })).json()),
    /** The volumes of a package, once it is made. */
    exported: async (token: string, asked: object = {}): Promise<Buffer[]> => {
      const answer = await call(PACKAGES, { token, body: { ...scope, ...asked } });
      expect(answer.statusCode, answer.body).toBe(202);
      return volumesOf(token, answer.json().id);
    },
    /** The same with a volume for each of the log's leaves, as a run that has ended left it. */
    exportedByLeaf: async (token: string, tenantId: string, size: number): Promise<Buffer[]> => {
      const id = uuidv7();
      const ends = Array.from({ length: size }, (_, leaf) => leaf + 1);
      const plan = { log_epoch: 1, size, start: 0, ends, data_key_id: null };
      await test.superuser.query(
        `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at,
           from_time, to_time, include_payloads, attempts, alive_at, expires_at, plan)
         VALUES ($1, $2, 'running', 'somebody', now(), $3, $4, false, 1,
           now() - interval '1 hour', now() + interval '1 day', $5)`,
        [tenantId, id, scope.from, scope.to, plan],
      );
      const volumes = await volumesOf(token, id);
      expect(volumes).toHaveLength(size);
      return volumes;
    },
  };
}

export async function memberOf(volume: Buffer, name: string): Promise<string> {
  const content = (await unpack(volume)).get(name);
  return content?.toString('utf8') ?? expect.unreachable();
}
