import { CodedError } from '@governance/shared/coded-error';

/** Why a bundle is not activated; docs/errors.md says what each means (refusals.test.ts). */
export const BUNDLE_FAULTS = [
  'too_large',
  'digest_mismatch',
  'archive_malformed',
  'signature_missing',
  'signature_stripped',
  'signature_malformed',
  'key_unknown',
  'signature_invalid',
  'scope_mismatch',
  'file_unsigned',
  'file_missing',
  'manifest_malformed',
  'data_malformed',
  'wrong_tenant',
  'revision_mismatch',
  'rollback',
  'revision_reused',
  'stale',
  'policy_not_loadable',
  'smoke_failed',
] as const;
export type BundleFault = (typeof BUNDLE_FAULTS)[number];

/** A bundle that is not activated; the active one stays. */
export class BundleRefusedError extends CodedError<BundleFault> {}
