/**
 * The demo's last part: what happened is exported, verified as an auditor would, and verified again
 * after one byte of a copy was changed; both verifications are repeated with the second
 * implementation.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminApi } from '../tests/support/admin-api.ts';
import { runVerifyEvidence } from '../verifier/src/verify-evidence-command.ts';
import { rewriteCopy } from '../verifier/testing/rewritten-copy.ts';
import {
  findMissingPython,
  type Opinion,
  secondOpinions,
} from '../verifier/testing/second-opinion.ts';

const PACKAGES = '/api/v1/evidence/packages';
const POLL_MS = 100;
const MADE_WITHIN_MS = 60_000;
/** Exit codes of the verifier. */
const VERIFIED = 0;
const NOT_VERIFIED = 1;

interface MadePackage {
  id: string;
  status: 'queued' | 'running' | 'ready' | 'failed';
  failure: string | null;
  volumes: { events: number; size: number; sha256: string; download: string }[];
}

export interface EvidenceDemo {
  url: string;
  admin: AdminApi;
  /** Folder of the package. */
  folder: string;
  /** When the demo began: everything since is exported. */
  since: Date;
  /** The path of the anchor that the auditor was given before. */
  anchorFile: string;
  print(text: string): void;
}

/** Requests the trust anchor, as an auditor does before the calls. */
export async function keepTrustAnchor(admin: AdminApi, folder: string): Promise<string> {
  const file = join(folder, 'trust-anchor.json');
  await writeFile(file, JSON.stringify(await admin.get('/api/v1/evidence/trust-anchor')));
  return file;
}

/**
 * Exports, verifies and shows the report.
 *
 * @throws Error if a verifier does not verify the package, or verifies the changed copy
 */
export async function showEvidence(given: EvidenceDemo): Promise<void> {
  const { folder, anchorFile, print } = given;
  print('an evidence package of all this, for an auditor');
  const archive = await exportPackage(given);
  const file = join(folder, 'evidence.tar.gz');
  await writeFile(file, archive);
  const good = await verify(file, anchorFile);
  showLines(good.report, /^(VERDICT|INDEPENDENCE|COMPLETE-UP-TO|SUMMARY)/);
  if (good.code !== VERIFIED) throw new Error(`the package is not verified:\n${good.report}`);

  print('one byte of a copy is changed: the denied call was not of get-env, but of let-env');
  print('every hash, root, proof and digest that follows is computed anew; signatures cannot be');
  const forged = join(folder, 'forged.tar.gz');
  await writeFile(forged, await rewriteCopy(await readFile(file), forgeDecision));
  const bad = await verify(forged, anchorFile);
  showLines(bad.report, /^(VERDICT|\[FAIL\]|SUMMARY)/);
  const isFound = bad.code === NOT_VERIFIED && bad.report.includes('[FAIL] batch.signature');
  if (!isFound) throw new Error(`the changed copy was not refused:\n${bad.report}`);
  showSecondOpinions(file, forged, given);
}

/** The results of the Python implementation for both, if it can be run. */
function showSecondOpinions(
  file: string,
  forged: string,
  { anchorFile, print }: EvidenceDemo,
): void {
  print('the second verifier, which is written in Python and shares no code with the first');
  const opinions = tryPython(() => secondOpinions([file, forged], anchorFile));
  if (!opinions) return;
  const [good, bad] = opinions;
  console.log(`    the package:      ${good?.verdict}`);
  const failed = Object.entries(bad?.checks ?? {}).filter(([, status]) => status === 'fail');
  const names = failed.map(([name]) => name).join(', ');
  console.log(`    the changed copy: ${bad?.verdict} (${names})`);
  if (good?.verdict !== 'VERIFIED' || bad?.verdict !== 'NOT_VERIFIED') {
    throw new Error('the second verifier is of another opinion');
  }
}

/** The service does not need Python: without a suitable one the second opinion is skipped. */
function tryPython(ask: () => Opinion[]): Opinion[] | undefined {
  const missing = findMissingPython();
  try {
    if (missing === undefined) return ask();
  } catch (error) {
    console.log(`    left out: ${firstLine((error as Error).message)}`);
    return undefined;
  }
  console.log(`    left out: ${firstLine(missing)}`);
  return undefined;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

async function exportPackage({ url, admin, since }: EvidenceDemo): Promise<Buffer> {
  // The end is exclusive, and the newest record may be of this millisecond.
  const to = new Date(Date.now() + 1_000);
  const asked = { from: since.toISOString(), to: to.toISOString() };
  let made = await admin.post<MadePackage>(PACKAGES, asked);
  const deadline = Date.now() + MADE_WITHIN_MS;
  while (made.status !== 'ready') {
    if (made.status === 'failed') throw new Error(`no package was made: ${made.failure}`);
    if (Date.now() > deadline) throw new Error(`the package is still ${made.status}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    made = await admin.get<MadePackage>(`${PACKAGES}/${made.id}`);
  }
  const [volume] = made.volumes;
  if (!volume) throw new Error('the package has no volume');
  const answer = await fetch(`${url}${volume.download}`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  if (!answer.ok) throw new Error(`the download was answered with ${answer.status}`);
  const archive = Buffer.from(await answer.arrayBuffer());
  console.log(
    `    evidence.tar.gz: ${volume.events} records, ${archive.length} bytes, sha256 ${volume.sha256.slice(0, 16)}…`,
  );
  return archive;
}

/** Like `npm run verify`. */
async function verify(file: string, anchorFile: string) {
  let report = '';
  const write = (text: string) => {
    report += text;
  };
  const code = await runVerifyEvidence([file, '--trust-anchor', anchorFile], {
    ...{ write, writeError: write },
  });
  return { code, report };
}

const forgeDecision = (record: string): string | undefined =>
  record.includes('"type":"decision"') && record.includes('"tool_name":"get-env"')
    ? record.replace('"tool_name":"get-env"', '"tool_name":"let-env"')
    : undefined;

function showLines(report: string, which: RegExp): void {
  for (const line of report.split('\n')) {
    if (which.test(line)) console.log(`    ${line}`);
  }
}
