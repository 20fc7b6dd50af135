/**
 * What Schemathesis may report: values that match the schema but are refused for a reason that no
 * schema can express. Each entry gives the reason. Any other finding is a fault.
 */
import type { Finding } from './findings.ts';

interface Explanation {
  /** Any, unless given. */
  operations?: readonly string[];
  status: number;
  detail: RegExp;
  why: string;
}

const EXPLAINED: readonly Explanation[] = [
  {
    operations: ['POST /api/v1/policies', 'PATCH /api/v1/policies/{id}'],
    status: 422,
    detail: /^The policy does not compile: /,
    why: 'Whether a text is Rego that compiles, only the compiler knows.',
  },
  {
    operations: ['POST /api/v1/policies', 'PATCH /api/v1/policies/{id}'],
    status: 422,
    detail: /^body\.rego_content: must not be larger than/,
    why: 'A schema counts characters, the bound is in bytes.',
  },
  {
    status: 400,
    detail: /^A number does not survive a round trip/,
    why: 'Where members are open, a number that no double holds is refused by the parser.',
  },
  {
    status: 400,
    detail: /nested|deep|values and keys|__proto__|longer than/,
    why: 'Where members are open: how deep and how much in all, no schema can bound.',
  },
  {
    operations: ['POST /api/v1/auth/token'],
    status: 422,
    detail: /^body\.client_(?:id|secret).*: is required$/,
    why: 'The client may stand in an HTTP Basic header instead.',
  },
  {
    operations: ['POST /api/v1/auth/token'],
    status: 400,
    detail: /^resource must be /,
    why: 'Only the addresses of this very service are taken.',
  },
  {
    operations: ['POST /api/v1/data-planes/register'],
    status: 422,
    detail: /^body\.registration\.(?:signing|sealing|token)_key: /,
    why: 'Whether base64url is a public key, only a cryptographic library knows.',
  },
  {
    operations: ['POST /api/v1/data-planes/{deployment_id}/heartbeat'],
    status: 422,
    detail: /^body\.deployment_id: must be the deployment_id of the path$/,
    why: 'A schema cannot compare the body with the path.',
  },
  {
    operations: ['POST /api/v1/data-planes/{deployment_id}/audit-batches'],
    status: 422,
    detail: /^The batch must be a header line/,
    why: 'A batch is lines of canonical JSON with a signature over them.',
  },
  {
    operations: ['GET /api/v1/data-planes/{deployment_id}/feed'],
    status: 410,
    detail: /^The feed cannot be continued from this cursor/,
    why: 'Which cursor goes with which digest depends on what happened.',
  },
  {
    operations: ['GET /api/v1/audit/events'],
    status: 422,
    detail: /^query\.to: must not be before from$/,
    why: 'A schema cannot compare two parameters.',
  },
  {
    operations: ['POST /api/v1/mcp-servers', 'PATCH /api/v1/mcp-servers/{server_id}'],
    status: 422,
    detail: /^body\.(?:local_name: no stdio server of this name|url: must be an http or https URL)/,
    why: 'The names are in a file of the operator’s; which host a URL can have, only its parser knows.',
  },
  {
    operations: ['POST /api/v1/mcp-servers', 'PATCH /api/v1/mcp-servers/{server_id}'],
    status: 422,
    detail: /^body\.tool_actions: must not be larger than/,
    why: 'A schema counts characters, the bound is in bytes of the whole.',
  },
  {
    operations: ['POST /api/v1/mcp-servers', 'PATCH /api/v1/mcp-servers/{server_id}'],
    status: 422,
    detail: /body\.credential\.name: is a header that a credential cannot use/,
    why: 'The answer lists the headers; names are compared without case.',
  },
  {
    operations: ['PATCH /api/v1/mcp-servers/{server_id}'],
    status: 422,
    detail: /^body\.(?:url|local_name|credential|tool_actions)\b/,
    why: 'What may be changed depends on the server’s transport and on where it was before.',
  },
  {
    operations: ['POST /api/v1/roles'],
    status: 422,
    detail: /^body\.resource_scopes\./,
    why: 'A glob is normalised as a path before it is judged.',
  },
  {
    operations: ['POST /api/v1/admin/killswitch'],
    status: 422,
    detail: /^body\.scope: must be all to lift it for all tenants$/,
    why: 'What has to be said depends on who says it.',
  },
];

/** Paths with a literal segment where another path has a parameter. */
const NAMED_LIKE_AN_ID = ['POST /api/v1/dlp/patterns/test'];

/** Why a finding is not a fault, if it is not. */
export function findExplanation({ check, operation, status, detail }: Finding): string | undefined {
  if (check === 'allow_header_conformance' && NAMED_LIKE_AN_ID.includes(operation)) {
    return 'Its last segment could be an id: the router takes the methods of that path, too.';
  }
  if (check !== 'positive_data_acceptance') return undefined;
  return EXPLAINED.find(
    (one) =>
      one.status === status &&
      one.detail.test(detail) &&
      (one.operations?.includes(operation) ?? true),
  )?.why;
}
