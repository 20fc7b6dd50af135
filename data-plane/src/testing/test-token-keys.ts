/**
 * Keys of agents' tokens for test planes. To make an RSA key takes a plane longer than the rest of
 * its start, so the files of a worker share a few.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOKEN_KEY_FILE } from '../identity/own-key-rotation.ts';
import { generateKey, toPem } from '../identity/private-key-file.ts';

/** More than the planes of a file that run at a time, so that each has its own. */
const COUNT = 8;
const pems: (string | Buffer)[] = [];
let lent = 0;

/** Lets a new data folder have a key, which the plane finds as if it had made it. */
export function lendTokenKey(dataDir: string): void {
  const n = lent++ % COUNT;
  pems[n] ??= toPem(generateKey('rsa'));
  const folder = join(dataDir, 'identity');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, TOKEN_KEY_FILE), pems[n], { mode: 0o600 });
}
