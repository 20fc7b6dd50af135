import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartError } from '@governance/shared/process/start-error';

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

/** Makes a new private key. */
export function generateKey(type: PrivateKeyType): KeyObject {
  switch (type) {
    case 'ed25519':
      return generateKeyPairSync('ed25519').privateKey;
    case 'x25519':
      return generateKeyPairSync('x25519').privateKey;
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  }
}

/** What a file of a private key holds. */
export const toPem = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' });
