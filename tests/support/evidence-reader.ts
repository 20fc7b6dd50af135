/** Packages as an auditor gets them: exported through the API, verified by both implementations. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { afterAll, expect, vi } from 'vitest';
import {
  findMissingPython,
  opinionOf,
  secondOpinions,
} from '../../verifier/testing/second-opinion.ts';
import type { AdminApi } from './admin-api.ts';

const PACKAGES = '/api/v1/evidence/packages';

export interface Reading {
  verdict: string;
  /** Names of the checks that failed. */
  fails: string[];
  passes: string[];
  /** What is said besides, by check. */
  warns: Record<string, string>;
  /** The details of the failed checks. */
  said: string;
}

/** Call it at the top of a test file; it cleans up after the file's last test. */
export function createEvidenceReader() {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-reader-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const isAlone = findMissingPython() !== undefined;
  return {
    /** The verifier's result; fails where the second one disagrees. */
    async read(packed: Uint8Array, anchor: TrustAnchor): Promise<Reading> {
      const trust = { anchor, issuers: [] };
      const report = await runChecks(Readable.from([packed]), trust, VOLUME_LIMITS);
      if (!isAlone) {
        const [path, anchorPath] = [join(folder, 'evidence.tar.gz'), join(folder, 'anchor.json')];
        writeFileSync(path, packed);
        writeFileSync(anchorPath, JSON.stringify(anchor));
        expect(secondOpinions([path], anchorPath)).toEqual([opinionOf(report)]);
      }
      const of = (status: string) => report.checks.filter((check) => check.status === status);
      return {
        verdict: report.verdict,
        fails: of('fail').map(({ name }) => name),
        passes: of('pass').flatMap(({ name, total }) => (total > 0 ? [name] : [])),
        warns: Object.fromEntries(of('warn').map(({ name, detail }) => [name, detail])),
        said: of('fail')
          .map(({ detail }) => detail)
          .join('; '),
      };
    },
  };
}

/** Requests a package, waits for it, and downloads its single volume. */
export async function exportEvidence(url: string, admin: AdminApi, asked: object): Promise<Buffer> {
  const { id } = await admin.post<{ id: string }>(PACKAGES, asked);
  await vi.waitFor(
    async () => {
      const made = await admin.get<{ status: string; failure: unknown; volumes: unknown[] }>(
        `${PACKAGES}/${id}`,
      );
      expect(made).toMatchObject({ status: 'ready', failure: null });
      expect(made.volumes).toHaveLength(1);
    },
    { timeout: 30_000, interval: 100 },
  );
  const headers = { authorization: `Bearer ${admin.token}` };
  const answer = await fetch(`${url}${PACKAGES}/${id}/download`, { headers });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}
