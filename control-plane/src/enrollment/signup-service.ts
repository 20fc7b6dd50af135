/**
 * Lets anybody create a tenant, if the operator allows it. Tenant, administrator and enrollment
 * token commit together. Each address has five attempts an hour, successful or not.
 */

import { AppError } from '@governance/shared/errors';
import { addressGroup } from '@governance/shared/http/client-address';
import { createExactLimiter } from '@governance/shared/http/rate-limiter';
import { HOUR_MS } from '@governance/shared/time/durations';
import type { Actor } from '../platform/database/tenant-scope.ts';
import type { Tenant, TenantService } from '../tenants/tenant-service.ts';
import { issueEnrollmentToken } from './enrollment-service.ts';
import type { EnrollmentToken } from './enrollment-token.ts';

const BY_ADDRESS = 5;
/** Attempts per hour over all addresses, since each sign-up creates a tenant and its bundle. */
const BY_ALL = 100;

/** The actor in audit records: the person has no account yet. */
const SIGNUP_ACTOR: Actor = { id: 'signup', username: 'signup', role: 'system' };

/** The enrollment token of a new tenant. */
const FIRST_TOKEN = { label: 'signup', roleIds: [], maxUses: 10, expiresInHours: 168 };

export interface SignupServiceDeps {
  tenants: Pick<TenantService, 'create'>;
  isOpen: boolean;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export interface SignedUp {
  tenant: Tenant;
  username: string;
  token: EnrollmentToken;
  secret: string;
}

export type SignupService = ReturnType<typeof createSignupService>;

export function createSignupService(deps: SignupServiceDeps) {
  const { tenants, isOpen, now, limitClock: elapsed } = deps;
  const byAddress = createExactLimiter({ limit: BY_ADDRESS, windowMs: HOUR_MS, elapsed });
  const byAll = createExactLimiter({ limit: BY_ALL, windowMs: HOUR_MS, elapsed });

  return {
    /** @throws AppError SIGNUP_CLOSED, RATE_LIMITED, DUPLICATE_NAME */
    signUp: async (
      { organization, admin }: { organization: string; admin: SignupAdmin },
      request: { address: string; id: string },
    ): Promise<SignedUp> => {
      if (!isOpen) throw new AppError('SIGNUP_CLOSED');
      const place = addressGroup(request.address);
      byAddress.check(place);
      byAll.check('all');
      byAddress.count(place);
      byAll.count('all');
      let issued: Pick<SignedUp, 'token' | 'secret'> | undefined;
      const body = { name: organization, admin };
      const tenant = await tenants
        .create(SIGNUP_ACTOR, body, request.id, async (tx) => {
          issued = await issueEnrollmentToken(tx, FIRST_TOKEN, now());
        })
        .catch((error) => {
          throw isTaken(error) ? takenName() : error;
        });
      if (!issued) throw new Error('a tenant was made without its enrollment token');
      return { tenant, username: admin.username, ...issued };
    },
  };
}

export interface SignupAdmin {
  username: string;
  password: string;
}

function isTaken(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DUPLICATE_NAME';
}

/** Does not reveal which of the two exists. */
function takenName(): AppError {
  return new AppError('DUPLICATE_NAME', 'The organization or the user already exists.');
}
