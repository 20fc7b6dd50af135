import { generateKeyPairSync } from 'node:crypto';

/** The JWT keys as replicas share them, in the environment's form. */
export function tokenKeyPems(): Record<string, string> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    SERVICE_JWT_PRIVATE_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    SERVICE_JWT_PUBLIC_KEY: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  };
}
