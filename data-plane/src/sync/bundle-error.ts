export type BundleFault =
  | 'too_large'
  | 'digest_mismatch'
  | 'archive_malformed'
  | 'signature_missing'
  | 'signature_malformed'
  | 'key_unknown'
  | 'signature_invalid'
  | 'scope_mismatch'
  | 'file_unsigned'
  | 'file_missing'
  | 'manifest_malformed'
  | 'data_malformed'
  | 'wrong_tenant'
  | 'revision_mismatch'
  | 'rollback'
  | 'revision_reused'
  | 'policy_not_loadable'
  | 'smoke_failed';

/** A bundle that is not activated; the one in force stays. */
export class BundleRefusedError extends Error {
  readonly code: BundleFault;

  constructor(code: BundleFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BundleRefusedError';
    this.code = code;
  }
}
