/** `npm run bench:evidence -- [events]`: how many events a second one core verifies. */
import { Readable } from 'node:stream';
import { COMMAND_LIMITS, verifyPackage } from '@governance/verifier/verify-package';
import { aPacked } from '../verifier/testing/package-builder.ts';
import { aStory } from '../verifier/testing/test-stories.ts';

const [events = '100000'] = process.argv.slice(2);
const BATCH = 500;
const { tenant, one } = aStory();
for (let i = 0; i < Number(events); i++) {
  tenant.decide(one);
  if (one.waiting.length >= BATCH) one.ship();
}
if (one.waiting.length > 0) one.ship();
const bytes = aPacked(tenant, { anchorSizes: [3] });
const given = { anchor: tenant.anchor(3), issuers: [], limits: COMMAND_LIMITS };
const started = process.cpuUsage();
const result = await verifyPackage(Readable.from([bytes]), given);
const { user, system } = process.cpuUsage(started);
const seconds = (user + system) / 1e6;
console.log(
  `${result.verdict}: ${result.events} events, ${bytes.length} bytes, ${seconds.toFixed(2)} s of CPU, ${Math.round(result.events / seconds)} events/s a core, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB resident`,
);
