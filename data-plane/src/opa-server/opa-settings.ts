/** The settings for decisions by an OPA server. */
import {
  flag,
  type ReadableValues,
  Secret,
  type SettingProblem,
  type SettingValues,
  setting,
  wholeNumber,
} from '@governance/shared/settings';
import { z } from 'zod';
import { parseOpaAddress } from './opa-address.ts';

const address = z.string().transform((text, context) => {
  try {
    return parseOpaAddress(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : 'is no address');
    return z.NEVER;
  }
});

export const OPA_SETTINGS = {
  opaUrl: setting({
    name: 'SERVICE_OPA_URL',
    description:
      'An OPA server that decides in place of the built-in engine. It loads the bundle of one tenant: where this data plane serves several, `{tenant_id}` stands in the address.',
    defaultNote: 'the built-in engine decides',
    parse: address,
  }),
  opaToken: setting({
    name: 'SERVICE_OPA_TOKEN',
    description: 'Sent to the OPA server as bearer token (`opa run --authentication=token`).',
    defaultNote: 'none is sent',
    parse: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')
      .transform((text) => new Secret(text)),
  }),
  opaTimeoutMs: setting({
    name: 'SERVICE_OPA_TIMEOUT_MS',
    description: 'How long the OPA server may take for a decision, in milliseconds.',
    default: '2000',
    parse: wholeNumber(50, 30_000),
  }),
  opaFailClosed: setting({
    name: 'SERVICE_OPA_FAIL_CLOSED',
    description:
      '`true` denies every tool call while the policy engine is unhealthy. `false` allows calls, unjudged, while the OPA server cannot be reached; each is audited as `opa_unavailable_allowed`.',
    default: 'true',
    parse: flag,
  }),
  opaFailOpenConfirmed: setting({
    name: 'SERVICE_OPA_FAIL_OPEN_CONFIRMED',
    description:
      'Production does not start with SERVICE_OPA_FAIL_CLOSED=false unless this is `true`.',
    default: 'false',
    parse: flag,
  }),
};

export type OpaConfig = NonNullable<ReturnType<typeof readOpaConfig>>;

/** A rule across these settings: failing open in production has to be confirmed. */
export function findOpaProblems(
  values: ReadableValues<typeof OPA_SETTINGS> & { env?: string | undefined },
): SettingProblem[] {
  const { env, opaFailClosed, opaFailOpenConfirmed } = values;
  if (env !== 'production' || opaFailClosed !== false || opaFailOpenConfirmed) return [];
  const message =
    'false allows unjudged calls while OPA cannot be reached; production needs SERVICE_OPA_FAIL_OPEN_CONFIRMED=true beside it';
  return [{ name: OPA_SETTINGS.opaFailClosed.name, message }];
}

/** @returns null where the built-in engine decides */
export function readOpaConfig(values: SettingValues<typeof OPA_SETTINGS>) {
  if (values.opaUrl === undefined) return null;
  return {
    address: values.opaUrl,
    token: values.opaToken ?? null,
    timeoutMs: values.opaTimeoutMs,
    failClosed: values.opaFailClosed,
  };
}
