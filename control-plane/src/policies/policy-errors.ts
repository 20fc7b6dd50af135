import type { Diagnostic } from '@governance/policies/contract';
import { AppError, type FieldError } from '@governance/shared/errors';

/** A hostile source can have a diagnostic per line; nobody reads more than these. */
const MAX_SHOWN = 50;

/**
 * A 422 that names line and column of the first fault, lists the first MAX_SHOWN, and says how many
 * are left out.
 *
 * @param policyId the policy of the request; faults of other policies name theirs
 * @param field of the request's body that has its source
 */
export function doesNotCompile(
  diagnostics: Diagnostic[],
  policyId: string,
  field = 'rego_content',
): AppError {
  const [first] = diagnostics;
  const more = diagnostics.length - MAX_SHOWN;
  const leftOut =
    more > 0 ? `; the first ${MAX_SHOWN} faults are listed, ${more} more are not` : '';
  const detail = first
    ? `The policy does not compile: ${placeOf(first, policyId)} ${first.message} (${first.code})${leftOut}`
    : undefined;
  const errors = diagnostics.slice(0, MAX_SHOWN).map(
    (one): FieldError => ({
      loc: isAbout(one, policyId)
        ? ['body', field, one.row, one.col]
        : ['policies', one.policy_id ?? '', one.row, one.col],
      msg: one.message,
      type: one.code,
    }),
  );
  return new AppError('POLICY_DOES_NOT_COMPILE', detail, { errors });
}

function placeOf(one: Diagnostic, policyId: string): string {
  const place = `line ${one.row}, column ${one.col}:`;
  return isAbout(one, policyId) ? place : `policy ${one.policy_id}, ${place}`;
}

function isAbout(one: Diagnostic, policyId: string): boolean {
  return !one.policy_id || one.policy_id === policyId;
}

export function tooManyPolicies(maxActive: number): AppError {
  return new AppError(
    'POLICY_LIMIT_REACHED',
    `The tenant has its maximum of ${maxActive} active policies: archive one first.`,
  );
}

export function tooLargeTogether(): AppError {
  return new AppError(
    'POLICY_LIMIT_REACHED',
    'The active policies would be too large together: shorten one or archive one first.',
  );
}

export function tooLargeInAll(): AppError {
  return new AppError(
    'POLICY_LIMIT_REACHED',
    'The policies of a tenant may have 32 MiB together, archived ones too: shorten one first.',
  );
}

export function changedByHand(id: string): AppError {
  return new AppError(
    'STORED_ROW_DAMAGED',
    `The policy ${id} is not what was last saved: it was changed in the database. Give rego_content, the source that you mean, with this change, or archive it.`,
  );
}
