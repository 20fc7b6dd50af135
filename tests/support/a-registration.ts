/** A data plane's registration for tests, with the private keys that prove it and sign for it. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { proveRegistration } from '@governance/shared/channel/channel-routes';
import type { ProvenRegistration, RegistrationRequest } from '@governance/shared/channel/channels';

/** Creating one is slow, and no test needs two: the key only signs agents' tokens. */
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

export interface TestRegistration {
  request: RegistrationRequest;
  signingKey: KeyObject;
  sealingKey: KeyObject;
  /** With the proof for this token. */
  provenWith(token: string, changes?: Partial<RegistrationRequest>): ProvenRegistration;
}

export function aRegistration(overrides: Partial<RegistrationRequest> = {}): TestRegistration {
  const signing = generateKeyPairSync('ed25519');
  const sealing = generateKeyPairSync('x25519');
  const request: RegistrationRequest = {
    signing_key: signing.publicKey.export({ format: 'jwk' }) as RegistrationRequest['signing_key'],
    sealing_key: sealing.publicKey.export({ format: 'jwk' }) as RegistrationRequest['sealing_key'],
    token_key: RSA as RegistrationRequest['token_key'],
    region: null,
    version: '1.0.0',
    label: 'local',
    ...overrides,
  };
  return {
    request,
    signingKey: signing.privateKey,
    sealingKey: sealing.privateKey,
    provenWith: (token, changes = {}) => {
      const registration = { ...request, ...changes };
      return { registration, proof: proveRegistration(signing.privateKey, registration, token) };
    },
  };
}
