/**
 * The product's own Rego under policies/rego, which is part of bundles and available to policies.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import type { RawModule } from './compiler-wire.ts';

/**
 * Reads the library `data.governance.lib`: every module of policies/rego/lib but the tests, at
 * its path inside a bundle, sorted. Throws when the installation lacks the folder.
 */
export function readPolicyLibrary(): RawModule[] {
  const folder = assetPath('policies/rego/lib');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
    .sort()
    .map((name) => ({
      path: `governance/lib/${name}`,
      rego: readFileSync(join(folder, name), 'utf8'),
      rego_version: 1,
    }));
}
