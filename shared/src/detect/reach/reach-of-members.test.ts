/** Objects whose members are things, by their ids or paths, and those that are one thing. */
import { expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();
const members = (count: number, key: (at: number) => string, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), value]));
/** A name without digits. */
const letters = (at: number) =>
  `f_${String(at).replace(/\d/g, (c) => 'abcdefghij'[Number(c)] ?? '')}`;
const BULK = ['escalate bulk_action'];
type Case = [string, ReachCall['action'], ReachCall['args']];

it.each<Case>([
  ['delete_records', 'delete', { ids: members(101, (at) => `rec${at}`, true) }],
  ['delete_records', 'delete', { ids: members(101, (at) => `rec${at}`, null) }],
  ['delete_records', 'delete', { ids: members(101, (at) => `r${at}`, 1) }],
  ['delete_records', 'delete', { records: members(101, (at) => `rec${at}`, {}) }],
  ['delete_records', 'delete', { payload: { ids: members(101, letters, 'yes') } }],
  ['delete_records', 'delete', { ids: JSON.stringify(members(101, letters, true)) }],
  ['batch_update', 'write', { updates: members(101, (at) => `usr_${at}`, { role: 'admin' }) }],
  ['batch_update', 'write', { data: members(101, (at) => `usr_${at}`, { role: 'admin' }) }],
  ['batch_update', 'write', { body: members(101, (at) => `usr_${at}`, { role: 'admin' }) }],
  ['delete_emails', 'delete', { emails: members(101, (at) => `msg_${at}`, true) }],
  [
    'update_users',
    'write',
    { users: { none: null, ...members(100, (at) => `u_${at}`, { role: 'x' }) } },
  ],
  ['batch_update', 'write', { roles: members(101, (at) => `usr_${at}`, 'admin') }],
  ['update_users', 'write', { users: members(101, letters, { role: 'admin' }) }],
  [
    'batch_update',
    'write',
    { updates: { ...members(20, (at) => `u_${at}`, {}), of: Array(101).fill('a') } },
  ],
  ['update_stock', 'write', { items: members(101, (at) => `sku-${at}`, 3) }],
  ['write_files', 'write', { files: members(101, (at) => `/srv/app/f${at}`, 'x') }],
  ['write_files', 'write', { files: members(101, letters, 'x') }],
  ['write_files', 'write', { tree: members(101, (at) => `src/${letters(at)}`, 'x') }],
  [
    'graphql',
    'execute',
    { query: 'mutation($a: X) { a(a: $a) }', variables: { ids: members(101, letters, true) } },
  ],
  [
    'update_users',
    'write',
    { users: { ...members(100, (at) => `u_${at}`, { role: 'x' }), u_100: 'x' } },
  ],
])('%s as %s has too many members (%#)', (name, action, args) => {
  expect(reach(name, action, args)).toEqual(BULK);
});

it.each<Case>([
  ['delete_records', 'delete', { ids: members(100, (at) => `rec${at}`, true) }],
  ['update_patient', 'write', { record: members(150, letters, 'x') }],
  ['update_patient', 'write', { record: members(150, (at) => `lab_${at}`, 'x') }],
  ['update_issue', 'write', { fields: members(150, (at) => `customfield_${at}`, 'x') }],
  ['update_contact', 'write', { properties: members(150, letters, 'x') }],
  ['update_row', 'write', { values: members(150, (at) => `abc_${at}`, 'x') }],
  ['update_record', 'write', { updates: members(150, letters, 'x') }],
  ['update_record', 'write', { changes: members(150, letters, true) }],
  ['update_record', 'write', { data: members(150, (at) => `q${at}`, 'x') }],
  ['update_sheet', 'write', { data: members(150, (at) => `AB${at}`, 'x') }],
  ['submit_survey', 'write', { responses: members(150, (at) => `item_${at}`, 'x') }],
  ['run_report', 'execute', { options: members(150, (at) => `opt_${at}`, true) }],
  ['set_flags', 'write', { features: members(150, letters, true) }],
  ['upsert_vector', 'write', { sparse: members(1_500, (at) => `dim_${at}`, 0.5) }],
  ['append_series', 'write', { series: members(365, (at) => `2026-01-${at}`, 'x') }],
  ['set_styles', 'write', { styles: members(150, (at) => `.box-${at}`, { color: 'red' }) }],
  ['update_theme', 'write', { css: members(150, (at) => `color-${at}`, '#fff') }],
  ['update_type', 'write', { shape: members(150, (at) => `prop_${at}`, { type: 'string' }) }],
  ['create_api', 'write', { api: { paths: members(150, (at) => `/a/${at}`, { get: {} }) } }],
  ['update_page', 'write', { content: members(150, (at) => `block_${at}`, { a: 'x' }) }],
  ['update_locale', 'write', { messages: members(300, letters, 'x') }],
  ['run_workflow', 'execute', { workflow: members(150, String, { class_type: 'x' }) }],
  ['set_env', 'write', { env: members(150, (at) => `S3_KEY_${at}`, 'x') }],
  ['render_graph', 'write', { nodes: members(300, (at) => `n_${at}`, {}) }],
  ['get_records', 'read', { ids: members(300, (at) => `rec${at}`, true) }],
  [
    'graphql',
    'execute',
    { query: 'mutation($a: X) { a(a: $a) }', variables: members(150, (at) => `id_${at}`, 'x') },
  ],
  [
    'graphql',
    'execute',
    { query: 'query Q { users { name } }', variables: { ids: members(150, letters, true) } },
  ],
  // Each of a list's records is one thing.
  ['create_records', 'write', { records: Array(60).fill(members(15, letters, true)) }],
  ['create_records', 'write', { records: Array(60).fill(members(15, (at) => `i_${at}`, 'x')) }],
  // What they list counts once.
  ['update_users', 'write', { users: members(60, (at) => `u_${at}`, { roles: ['a'] }) }],
])('%s as %s has members of one thing (%#)', (name, action, args) => {
  expect(reach(name, action, args)).toEqual([]);
});
