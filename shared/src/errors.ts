/**
 * Every error that the product answers with, in one table: docs/errors.md is checked against it
 * both ways. Services throw codes; one handler in each plane maps them to a status and `{detail}`
 * (specification 1, section 7).
 */
export const ERRORS = {
  BAD_REQUEST: [400, 'The request is malformed.'],
  MALFORMED_JSON: [400, 'The body is not valid JSON.'],
  UNSUPPORTED_GRANT: [400, 'grant_type must be client_credentials.'],
  INVALID_TARGET: [400, 'resource must be the gateway of this issuer or a server under it.'],
  PAYLOAD_NOT_ENCRYPTED: [400, 'No encrypted payload is kept of this event.'],
  PAYLOAD_ENCRYPTED: [400, 'The payload of this event is encrypted: use its decrypt route.'],
  NO_TENANT_CONTEXT: [400, 'Name the tenant to act in with the header X-Tenant-Id.'],
  UNAUTHENTICATED: [401, 'A valid, unexpired bearer token is required.'],
  BAD_CREDENTIALS: [401, 'The credentials are wrong.'],
  DATA_PLANE_TOKEN_INVALID: [401, 'The data-plane token is missing, invalid, revoked or expired.'],
  INSTALLER_TOKEN_INVALID: [401, 'The installer token is unknown, used, revoked or expired.'],
  ENROLLMENT_TOKEN_INVALID: [401, 'The enrollment token is unknown, used up, revoked or expired.'],
  METRICS_TOKEN_INVALID: [401, 'The metrics token is missing or wrong.'],
  FORBIDDEN: [403, 'This account may not do that.'],
  SUPER_ADMIN_REQUIRED: [403, 'Only a super-admin may do that.'],
  METRICS_CLOSED: [403, 'In production /metrics is closed until SERVICE_METRICS_TOKEN is set.'],
  SIGNUP_CLOSED: [403, 'Nobody signs up here: ask the operator for a tenant.'],
  TENANT_ADMIN_REQUIRED: [403, 'Only an administrator of the tenant may do that.'],
  ROLE_REQUIRED: [403, 'Your role may not do that.'],
  OWN_CHANGE_REQUEST: [403, 'Somebody else has to approve what you propose.'],
  OWN_EXCEPTION: [403, 'Somebody else has to approve the exception that you ask for.'],
  CALL_DENIED: [403, 'Denied by policy.'],
  CALL_ESCALATED: [403, 'Escalated: a person has to decide. The call was not forwarded.'],
  AGENT_SUSPENDED: [403, 'The agent is suspended or deprovisioned.'],
  SCOPE_EXCEEDS_DELEGATOR: [403, 'SCOPE_EXCEEDS_DELEGATOR: the delegator may not do all of that.'],
  DEPTH_EXCEEDS_MAX: [
    403,
    'DEPTH_EXCEEDS_MAX: the workflow allows no longer chain of delegations.',
  ],
  NOT_FOUND: [404, 'Nothing is there.'],
  AGENT_NOT_FOUND: [404, 'No such agent.'],
  AGENT_CREDENTIAL_NOT_FOUND: [404, 'No such credential of this agent.'],
  INSTALLER_TOKEN_NOT_FOUND: [404, 'No such installer token of this agent.'],
  ROLE_NOT_FOUND: [404, 'No such role.'],
  POLICY_NOT_FOUND: [404, 'No such policy.'],
  CHANGE_REQUEST_NOT_FOUND: [404, 'No such change request.'],
  REPLAY_NOT_FOUND: [404, 'No such replay.'],
  MCP_SERVER_NOT_FOUND: [404, 'No such MCP server.'],
  DATA_PLANE_NOT_FOUND: [404, 'No such data plane.'],
  DATA_PLANE_TOKEN_NOT_FOUND: [404, 'No such data-plane token.'],
  ENROLLMENT_TOKEN_NOT_FOUND: [404, 'No such enrollment token.'],
  ALERT_NOT_FOUND: [404, 'No such alert.'],
  INBOUND_RULE_NOT_FOUND: [404, 'No such source rule, or it has expired.'],
  DLP_PATTERN_NOT_FOUND: [404, 'No such DLP pattern.'],
  TOOL_NOT_FOUND: [404, 'No data plane has reported this tool.'],
  ESCALATION_NOT_FOUND: [404, 'No such escalation.'],
  EXCEPTION_NOT_FOUND: [404, 'No such exception.'],
  INBOUND_HOLD_NOT_FOUND: [404, 'No such held result.'],
  EVENT_NOT_FOUND: [404, 'No such event.'],
  PAYLOAD_NOT_FOUND: [404, 'No payload is kept of this event.'],
  CHAIN_BREAK_NOT_FOUND: [404, 'No such chain break.'],
  BUNDLE_NOT_FOUND: [404, 'No bundle was built for this tenant yet.'],
  WORKFLOW_NOT_FOUND: [404, 'No such workflow.'],
  SESSION_NOT_FOUND: [404, 'No such session.'],
  WORKFLOW_SESSION_NOT_FOUND: [404, 'No such workflow session.'],
  DELEGATION_NOT_FOUND: [404, 'No such delegation.'],
  CHECKPOINT_NOT_FOUND: [404, 'The log has no such checkpoint.'],
  EVIDENCE_PACKAGE_NOT_FOUND: [404, 'No such evidence package.'],
  TENANT_NOT_FOUND: [404, 'No such tenant.'],
  ADMINISTRATOR_NOT_FOUND: [404, 'No such user.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not have that method: Allow names those it has.'],
  NOT_ACCEPTABLE: [406, 'The Accept header names no media type that this route has.'],
  DUPLICATE_NAME: [409, 'The name is taken.'],
  OWN_ACCOUNT: [409, 'Nobody changes their own account here.'],
  LAST_ADMINISTRATOR: [409, 'The tenant would have no active user with the role admin.'],
  ADMINISTRATOR_LIMIT_REACHED: [409, 'The tenant has as many users as it may have.'],
  ENROLLMENT_TOKEN_LIMIT_REACHED: [409, 'The tenant has as many enrollment tokens as it may have.'],
  AGENT_CREDENTIAL_LIMIT_REACHED: [409, 'The agent has as many credentials as it may have.'],
  INSTALLER_TOKEN_LIMIT_REACHED: [409, 'The agent has as many installer tokens as it may have.'],
  INSTALLER_TOKEN_OTHER_CLIENT: [409, 'The installer token is for another client.'],
  AGENT_DEPROVISIONED: [409, 'A deprovisioned agent stays so: register a new one.'],
  OPA_SERVES_ONE_TENANT: [
    409,
    'SERVICE_OPA_URL names one OPA server, which decides for one tenant.',
  ],
  POLICY_LIMIT_REACHED: [409, 'The tenant has as many active policies as it may have.'],
  CHANGE_REQUEST_REQUIRED: [
    409,
    'Active policies change by change requests here: propose it, and somebody else approves it.',
  ],
  CHANGE_REQUEST_DECIDED: [409, 'The change request was decided already.'],
  CHANGE_REQUEST_OUTDATED: [409, 'The policy has changed since: propose it anew.'],
  CHANGE_REQUEST_LIMIT_REACHED: [409, 'As many change requests are pending as may be.'],
  REPLAY_RUNNING: [409, 'A replay runs already: wait for it, or cancel it.'],
  REPLAY_ENDED: [409, 'The replay is over.'],
  MCP_SERVER_LIMIT_REACHED: [409, 'The tenant has as many MCP servers as it may have.'],
  INBOUND_RULE_LIMIT_REACHED: [409, 'The tenant has as many source rules as it may have.'],
  DLP_PATTERN_LIMIT_REACHED: [
    409,
    'The tenant has as many DLP patterns of its own as it may have.',
  ],
  DLP_PATTERN_BUILTIN: [409, 'A built-in DLP pattern cannot be deleted: disable it.'],
  TOOL_NOT_WAITING: [409, 'The tool is what it is pinned to: nothing waits for approval.'],
  TOOL_APPROVAL_LIMIT_REACHED: [
    409,
    'The tenant has as many approved tools as its bundle holds: remove an MCP server that is not in use, and its approvals go with it.',
  ],
  ALERT_RAISED_AGAIN: [409, 'The alert’s cause has raised another one: resolve that one first.'],
  ESCALATION_RESOLVED: [409, 'The escalation is not pending any more.'],
  EXCEPTION_NOT_ACTIVE: [409, 'The exception is not active.'],
  EXCEPTION_NOT_PENDING: [409, 'The exception does not wait for approval.'],
  EXCEPTION_EXTENSIONS_EXHAUSTED: [409, 'The exception was extended as often as it may be.'],
  EXCEPTION_REVIEW_REQUIRED: [
    409,
    'An exception that lifts a denial needs a second hand here: ask for another one.',
  ],
  EXCEPTION_LIMIT_REACHED: [409, 'The tenant has as many exceptions as it may have.'],
  EXCEPTION_SHAPE_UNKNOWN: [
    409,
    'No exception can be made of this call: approve it without create_exception.',
  ],
  INBOUND_HOLD_RESOLVED: [409, 'The held result is not pending any more.'],
  WORKFLOW_SUSPENDED: [409, 'The workflow is suspended: its sessions can no longer start.'],
  WORKFLOW_SESSION_ENDED: [409, 'The workflow session has ended.'],
  WORKFLOW_LIMIT_REACHED: [409, 'The tenant has as many workflows as it may have.'],
  WORKFLOW_SESSION_LIMIT_REACHED: [
    409,
    'The tenant has as many active workflow sessions as it may have.',
  ],
  DELEGATION_LIMIT_REACHED: [409, 'The tenant has as many active delegations as it may have.'],
  EVIDENCE_EXPORT_RUNNING: [409, 'An evidence package is being made: wait for it.'],
  EVIDENCE_PACKAGE_LIMIT_REACHED: [409, 'The tenant has as many evidence packages as it may have.'],
  EVIDENCE_PACKAGE_NOT_READY: [409, 'The evidence package is not ready.'],
  KEY_ROTATION_PENDING: [
    409,
    'A new key of this purpose is made already and does not sign yet: see valid_from.',
  ],
  KEY_ROTATIONS_EXHAUSTED: [409, 'This purpose has had as many keys as it may have.'],
  KEY_CONFIGURED: [
    409,
    'This key is set in the environment: change SERVICE_JWT_PRIVATE_KEY and SERVICE_JWT_PUBLIC_KEY, and give the one before as SERVICE_JWT_PREVIOUS_PUBLIC_KEYS.',
  ],
  DATA_PLANE_REVOKED: [
    409,
    'This data plane was revoked: it has to register anew, with a new key.',
  ],
  DATA_PLANE_FORKED: [
    409,
    'Two data planes wrote with this key, as after a copied data folder: register anew, with a new key.',
  ],
  DATA_PLANE_LIMIT_REACHED: [409, 'The tenant has as many data planes as it may have.'],
  BATCH_CONFLICT: [409, 'The batch does not continue the stream that is stored.'],
  FEED_RESET: [410, 'The feed cannot be continued from this cursor: read a snapshot.'],
  BODY_TOO_LARGE: [413, 'The body is larger than this route accepts.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The content type is not accepted here.'],
  RANGE_NOT_SATISFIABLE: [416, 'The file has no such range of bytes.'],
  VALIDATION_FAILED: [422, 'A field is missing or wrong.'],
  POLICY_DOES_NOT_COMPILE: [422, 'The policy does not compile.'],
  NOT_EVALUATED: [422, 'Nothing was decided: the evaluation was stopped.'],
  RATE_LIMITED: [429, 'Too many requests: wait and try again.'],
  INTERNAL: [500, 'Something went wrong on our side.'],
  MODEL_RUNTIME_UNREACHABLE: [502, 'Cannot reach the local model runtime. Is it running?'],
  MODEL_RUNTIME_MALFORMED: [502, 'The local model runtime gave an answer that is no HTTP.'],
  STORED_ROW_DAMAGED: [500, 'A stored row cannot be shown.'],
  PAYLOAD_DECRYPTION_FAILED: [500, 'The payload cannot be decrypted.'],
  UNAVAILABLE: [503, 'The service cannot answer now: try again.'],
  MODEL_RUNTIME_TIMEOUT: [504, 'The local model runtime did not answer within 300 seconds.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof ERRORS;

/** One invalid field, as documents 1 and 2 of the specification show it. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/**
 * The one error class. `detail` defaults to the table's text and must be safe to show a caller:
 * it names what to do and never carries a secret.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: FieldError[] | undefined;
  /** Answered as Retry-After, where the route has set none. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    detail?: string,
    options: { errors?: FieldError[]; cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    const [status, text] = ERRORS[code];
    super(detail ?? text, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.detail = detail ?? text;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * JSON-RPC errors of the enforcement proxy: specification 1, section 7, and what MCP 2026-07-28 adds
 * (-32020 to -32022, for its clients alone).
 */
export const RPC_ERRORS = {
  UNAUTHORIZED: -32000,
  POLICY_DENIED: -32003,
  ESCALATED: -32004,
  RATE_LIMITED: -32005,
  HEADER_MISMATCH: -32020,
  MISSING_CLIENT_CAPABILITY: -32021,
  UNSUPPORTED_PROTOCOL_VERSION: -32022,
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
} as const;
