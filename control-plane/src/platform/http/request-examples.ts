/**
 * Examples of request bodies in the OpenAPI document, by method and path. Ids stand for any.
 * request-examples.pg.test.ts sends each to its route.
 */
const ID = '01a1fdca-943f-7c94-ac2d-c68e7c4a7284';
const OTHER_ID = '01a1fdca-a1d2-7b03-9f55-0d6f2b8c1e47';
const REGO = `package freeze

deny contains "nobody writes on Fridays" if {
	input.request.action == "write"
}
`;

const EXAMPLES = {
  'POST /auth/admin/login': { username: 'admin', password: 'the password' },
  'POST /auth/password': {
    current_password: 'the password of before',
    new_password: 'at least twelve characters',
  },
  'POST /admin/users': {
    username: 'approver@example.com',
    password: 'at least twelve characters',
    role: 'approver',
  },
  'PATCH /admin/users/{id}': { status: 'disabled' },
  'POST /tenants': {
    name: 'Example',
    admin: { username: 'owner@example.com', password: 'at least twelve characters' },
  },
  'POST /signup': {
    organization: 'Example',
    admin: { username: 'admin@example.com', password: 'at least twelve characters' },
  },
  'POST /agents': {
    name: 'support-assistant',
    agent_type: 'assistant',
    owner: 'support@example.com',
    description: 'Answers tickets.',
  },
  'PATCH /agents/{id}': { status: 'suspended' },
  'POST /agents/{id}/roles': { role_id: ID },
  'POST /agents/{id}/credentials': { label: 'laptop', client: 'cursor' },
  'POST /agents/{id}/installer-tokens': { client: 'cursor', label: 'laptop' },
  'POST /admin/enrollment-tokens': { label: 'laptops', max_uses: 20, expires_in_hours: 24 },
  'POST /roles': {
    name: 'reader',
    description: 'Reads files.',
    permissions: ['files:read'],
    resource_scopes: ['target:/srv/**'],
  },
  'POST /policies': { name: 'Freeze', rego_content: REGO, status: 'draft' },
  'PATCH /policies/{id}': { status: 'active' },
  'POST /policies/{id}/evaluate': {
    agent: { id: ID, name: 'support-assistant', permissions: ['files:read'] },
    request: { tool_name: 'read_file', action: 'read' },
  },
  'POST /policies/{id}/change-requests': {
    proposed_status: 'active',
    summary: 'The freeze begins.',
  },
  'POST /policies/{id}/change-requests/{req_id}/approve': { notes: 'As agreed.' },
  'POST /policies/{id}/change-requests/{req_id}/reject': { notes: 'Not before Monday.' },
  'POST /policies/{id}/replay': { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' },
  'POST /mcp-servers': {
    server_id: 'files',
    transport: 'streamable-http',
    url: 'https://files.example/mcp',
  },
  'PATCH /mcp-servers/{server_id}': { url: 'https://files.example/v2/mcp' },
  'POST /inbound/rules': {
    source_pattern: 'https://intranet.example/*',
    rule_type: 'trust',
    expires_in: '7d',
  },
  'POST /inbound/holds/{id}/resolve': { resolution: 'allow_sanitized', notes: 'A test.' },
  'PATCH /admin/settings': { policies: { require_change_requests: true } },
  'POST /dlp/patterns': { name: 'customer_number', regex: 'CUST-[0-9]{8}', severity: 'high' },
  'PATCH /dlp/patterns/{pattern_id}': { enabled: false },
  'POST /dlp/patterns/test': { regex: 'CUST-[0-9]{8}', text: 'of CUST-12345678' },
  'PATCH /dlp/settings': { outbound: { medium: 'warn' }, results: { medium: 'redact' } },
  'PATCH /admin/data-protection': { redact_fields: ['diagnosis'] },
  'PATCH /admin/blast-radius': { email_recipient_limit: 20 },
  'PATCH /admin/rate-limits': { limits: { low: { requests: 600, window_seconds: 60 } } },
  'POST /admin/data-plane-tokens': { label: 'Frankfurt', region: 'eu-central-1' },
  'POST /admin/killswitch': { scope: 'tenant', reason: 'Under investigation.' },
  'PATCH /monitor/alerts/{id}': { status: 'acknowledged' },
  'POST /audit/chain/breaks/{id}/acknowledge': { notes: 'The disk was exchanged.' },
  'POST /exceptions': {
    justification: 'The migration of Friday runs unattended.',
    expires_in_hours: 8,
    agent_id: ID,
    tool_name: 'write_file',
  },
  'PATCH /exceptions/{id}/extend': { hours: 4 },
  'POST /exceptions/{id}/approve': { notes: 'For this night.' },
  'POST /escalations/{id}/approve': { notes: 'Seen with the owner.' },
  'POST /escalations/{id}/deny': { notes: 'Not this folder.' },
  'POST /workflows': { name: 'Invoices', owner_agent_id: ID },
  'POST /workflows/{id}/sessions': { expires_in_seconds: 3_600 },
  'POST /delegations': {
    workflow_session_id: ID,
    delegator_agent_id: ID,
    delegatee_agent_id: OTHER_ID,
    scope: { tools: ['read_file'] },
  },
  'POST /evidence/packages': { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' },
};

export const REQUEST_EXAMPLES: ReadonlyMap<string, object> = new Map(
  Object.entries(EXAMPLES).map(([route, body]) => [route.replace(' /', ' /api/v1/'), body]),
);
