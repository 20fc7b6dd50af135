import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartError } from '@governance/shared/start-error';

export type PrivateKeyType = 'ed25519' | 'x25519' | 'rsa';

/** @throws StartError naming the file where it holds no such key */
export function readPrivateKey(file: string, type: PrivateKeyType): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(file));
  } catch (cause) {
    throw new StartError(`${file} holds no private key: put back what was in it`, { cause });
  }
  if (key.asymmetricKeyType === type) return key;
  throw new StartError(`${file} holds no ${type} key: put back what was in it`);
}
