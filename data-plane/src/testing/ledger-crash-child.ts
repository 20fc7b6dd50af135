/**
 * The victim of ledger-crash.test.ts: appends decisions and outcomes as fast as it can, and writes
 * the id of each acknowledged decision to standard output, until it is killed or its disk fails.
 *
 *   ledger-crash-child <data folder> <tenant> <stream>
 */
import { writeSync } from 'node:fs';
import { loadIdentity } from '../identity/identity.ts';
import { createLedger } from '../ledger/ledger.ts';
import { aDecision, anOutcome } from './test-records.ts';

const CONCURRENT_CALLS = 24;

const [dataDir = '', tenantId = '', stream = ''] = process.argv.slice(2);
const ledger = await createLedger({
  dataDir,
  signingKey: loadIdentity(dataDir).signingKey,
  writerVersion: '1.0.0',
  readUsedShare: async () => 0,
  onFatal: (error) => {
    writeSync(2, `fatal: ${error.message}\n`);
    process.exit(1);
  },
});
await ledger.open(tenantId, stream);

async function call(): Promise<void> {
  for (;;) {
    const decision = aDecision();
    await ledger.append(tenantId, decision, Buffer.alloc(16));
    writeSync(1, `${decision.id}\n`);
    await ledger.append(tenantId, anOutcome(decision.id));
  }
}

await Promise.all(Array.from({ length: CONCURRENT_CALLS }, call));
