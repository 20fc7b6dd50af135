/**
 * `npm run verifier`: reads the environment, starts the verification service, stops it gracefully.
 */
import { readFileSync } from 'node:fs';
import { listeningUrl } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import { ConfigurationError, parseSettings } from '@governance/shared/settings';
import { parseIssuers, parseKeyset } from './trust.ts';
import { createVerifierApp } from './verifier-app.ts';
import { VERIFIER_SETTINGS } from './verifier-settings.ts';

/** @throws ConfigurationError naming the variable whose file cannot be read */
function readFrom<T>(name: string, path: string | undefined, parse: (text: string) => T): T | null {
  if (path === undefined) return null;
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch {
    throw new ConfigurationError([{ name, message: 'names a file without the expected format' }]);
  }
}

async function main(): Promise<void> {
  const settings = parseSettings(VERIFIER_SETTINGS, process.env);
  const { host, port, concurrency, trustedProxies, trustAnchor, issuers } = settings;
  const published = readFrom(VERIFIER_SETTINGS.trustAnchor.name, trustAnchor, parseKeyset);
  const known = readFrom(VERIFIER_SETTINGS.issuers.name, issuers, parseIssuers) ?? [];
  const log = createLog({ debug: false });
  const app = createVerifierApp({ log, published, issuers: known, concurrency, trustedProxies });
  await app.listen({ host, port });
  console.log(`Evidence verification service: ${listeningUrl(app, { host, port })}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void app.closeGently());
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
