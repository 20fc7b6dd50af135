/**
 * Reads what an OPA server answered: untrusted until it is exactly one verdict of a known bundle.
 * Proven by opa-server.test.ts.
 */
import type { PolicyOutcome } from '@governance/policies/contract';
import { outcomeOfVerdict } from '@governance/policies/evaluator/policy-engine';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import { z } from 'zod';

/** Why an answer is not a verdict. Each is a denial. */
export type OpaFailure =
  | 'opa_unreachable'
  | 'opa_timeout'
  | 'opa_error'
  | 'opa_malformed'
  | 'opa_policy_failed'
  | 'opa_overloaded'
  | 'opa_wrong_tenant'
  | 'opa_no_address';

export interface OpaFailed {
  kind: 'failed';
  failure: OpaFailure;
  message: string;
}

/** The result of an exchange: a reply, or why there was none. */
export type OpaReply = { kind: 'reply'; status: number; text: string } | OpaFailed;

export type OpaAnswer =
  /** `revision` is that of the bundle which decided, null where OPA has none of ours. */
  { kind: 'judged'; outcome: PolicyOutcome; revision: number | null } | OpaFailed;

/** The name of our bundle, in case an operator loads others beside it. */
const BUNDLE_NAME = 'governance';
const READ = { maxDepth: 32, maxNodes: 50_000, numbers: 'any' } as const;

const Body = z.looseObject({
  result: z.unknown().optional(),
  provenance: z
    .looseObject({
      bundles: z.record(z.string(), z.looseObject({ revision: z.string() })).optional(),
    })
    .optional(),
});

const ErrorBody = z.looseObject({
  code: z.string(),
  message: z.string(),
  errors: z.array(z.looseObject({ code: z.string(), message: z.string() })).optional(),
});

interface OpaDocument {
  kind: 'document';
  isDefined: boolean;
  value: unknown;
  revision: number | null;
}

/** Reads a document of OPA's data API, asked for with its provenance. */
export function readDocument(reply: OpaReply): OpaDocument | OpaFailed {
  if (reply.kind === 'failed') return reply;
  if (reply.status !== 200) return readError(reply.status, reply.text);
  let body: z.infer<typeof Body>;
  try {
    body = Body.parse(parseStrictJson(reply.text, READ));
  } catch {
    return failed('opa_malformed', 'the answer is not what OPA writes');
  }
  const revision = findRevision(body.provenance?.bundles ?? {});
  return { kind: 'document', isDefined: body.result !== undefined, value: body.result, revision };
}

/** Reads the answer to a question for `governance/decision`. */
export function readDecision(reply: OpaReply): OpaAnswer {
  const read = readDocument(reply);
  if (read.kind === 'failed') return read;
  const { isDefined, value, revision } = read;
  const outcome: PolicyOutcome = isDefined
    ? outcomeOfVerdict(value)
    : { ok: false, fault: 'undefined', message: 'OPA gives no decision' };
  return { kind: 'judged', outcome, revision };
}

function findRevision(bundles: Record<string, { revision: string }>): number | null {
  const names = Object.keys(bundles);
  const name = names.length === 1 ? names[0] : BUNDLE_NAME;
  const revision = name === undefined ? undefined : bundles[name]?.revision;
  if (revision === undefined || !/^\d{1,15}$/.test(revision)) return null;
  return Number(revision);
}

/**
 * A status other than 200. OPA answers 500 when a policy fails at runtime: that is the answer of a
 * healthy server, and must never count as an outage, which an agent could then cause.
 */
function readError(status: number, text: string): OpaFailed {
  let error: z.infer<typeof ErrorBody> | undefined;
  try {
    error = ErrorBody.parse(JSON.parse(text));
  } catch {
    // Not from OPA: from a proxy in front of it, or from nobody.
  }
  if (error === undefined) {
    const failure = status >= 500 ? 'opa_unreachable' : 'opa_error';
    return failed(failure, `HTTP ${status}`);
  }
  const evaluation = error.errors?.find(({ code }) => code.startsWith('eval_'));
  if (evaluation) {
    return failed('opa_policy_failed', `${evaluation.code}: ${evaluation.message.slice(0, 500)}`);
  }
  return failed('opa_error', `HTTP ${status}: ${error.code}: ${error.message.slice(0, 500)}`);
}

export function failed(failure: OpaFailure, message: string): OpaFailed {
  return { kind: 'failed', failure, message };
}
