/** A process that verifies a set of volumes with the library and reports the cost. */
import { createReadStream, readFileSync } from 'node:fs';
import { parseTrustAnchor } from '@governance/verifier/trust';
import { COMMAND_LIMITS } from '@governance/verifier/verify-package';
import { verifySet } from '@governance/verifier/verify-set';
import { peakMiB } from '../../tests/support/process-cpu.ts';
import type { Verified } from './verify-volumes.ts';

const [anchorPath = '', ...paths] = process.argv.slice(2);
const anchor = parseTrustAnchor(readFileSync(anchorPath, 'utf8'));

function* sources() {
  for (const path of paths) yield createReadStream(path);
}

const started = performance.now();
const before = process.cpuUsage();
const { verdict } = await verifySet(sources(), { anchor, issuers: [], limits: COMMAND_LIMITS });
const { user, system } = process.cpuUsage(before);
const verified: Verified = {
  verdict,
  seconds: (performance.now() - started) / 1_000,
  cpu_seconds: (user + system) / 1e6,
  peak_mib: peakMiB(process.pid),
};
process.send?.(verified, () => process.disconnect());
