import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './assets.ts';

/** The version of the product. */
export function readVersion(): string {
  const manifest = readFileSync(join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
