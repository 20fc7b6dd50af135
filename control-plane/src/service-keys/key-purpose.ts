/** The API's names for the purposes of keys. */
import { z } from 'zod';
import type { ServiceKeyPurpose } from '../platform/keys/keys.ts';

export const KeyPurposeName = z.enum([
  'bundle',
  'feed',
  'evidence',
  'checkpoint',
  'batch',
  'token',
  'workflow-token',
  'delegation-token',
]);
export type KeyPurposeName = z.infer<typeof KeyPurposeName>;

const PURPOSES: Record<KeyPurposeName, ServiceKeyPurpose> = {
  bundle: 'bundle-signing',
  feed: 'feed-signing',
  evidence: 'evidence-signing',
  checkpoint: 'checkpoint-signing',
  batch: 'batch-signing',
  token: 'token-signing',
  'workflow-token': 'workflow-token',
  'delegation-token': 'delegation-token',
};

/** The name for a row whose purpose is damaged. */
export const UNKNOWN_PURPOSE = 'unknown' as const;

export const purposeOf = (name: KeyPurposeName): ServiceKeyPurpose => PURPOSES[name];

export function purposeName(purpose: ServiceKeyPurpose): KeyPurposeName {
  const name = KeyPurposeName.options.find((one) => PURPOSES[one] === purpose);
  if (!name) throw new TypeError(`no name for ${purpose}`);
  return name;
}
