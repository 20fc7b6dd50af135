/** Calls whose tool and arguments together say that everything of a kind goes, or is written to. */
import { expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();

const WHOLE = ['escalate delete_whole'];
const ALL = ['escalate delete_wildcard'];
const BULK = ['escalate bulk_action'];
const MANY = ['escalate email_recipients'];

it.each<[string, ReachCall['args'], string[]]>([
  ['delete_space', { space_key: 'OPS' }, WHOLE],
  ['delete_team', { teamId: 'a' }, WHOLE],
  ['remove_team_member', { teamId: 'a', userId: 'b' }, []],
  ['delete_board', { board_id: 'a' }, WHOLE],
  ['remove_spaces', { text: 'a b' }, []],
  ['delete_card', { board_id: 'a', card_id: 'b' }, []],
  ['clear_calendar', { calendar_id: 'primary' }, WHOLE],
  ['clear_reminders', { event_id: 'a' }, []],
  ['dns_zone_delete', { zone_id: 'a' }, WHOLE],
  ['dns_record_delete', { zone_id: 'a', record_id: 'b' }, []],
  ['resources_delete', { kind: 'PersistentVolumeClaim', name: 'a', namespace: 'b' }, WHOLE],
  ['resources_delete', { kind: 'Pod', name: 'a', namespace: 'b' }, []],
])('a store is deleted: %s with %o', (name, args, found) => {
  expect(reach(name, 'delete', args)).toEqual(found);
});

it.each<[string, ReachCall['action'], ReachCall['args'], string[]]>([
  ['delete_all_builds', 'delete', { job: 'deploy' }, ALL],
  ['delete_all_documents', 'delete', { indexUid: 'products' }, ALL],
  ['archive_all_features', 'write', { project: 'default' }, ALL],
  ['archive_all_channels', 'write', {}, ALL],
  ['archive_all_channels', 'write', { confirm: true }, ALL],
  ['archive_all_channels', 'write', { older_than: 90 }, []],
  ['revoke_all_tokens', 'write', {}, []],
  ['archive_feature', 'write', { project: 'default', feature: 'a' }, []],
  ['revoke_all_tokens', 'write', { user_id: 'a' }, []],
  ['clear_objects', 'delete', { indexName: 'products' }, ALL],
  ['clear_filters', 'delete', { table: 'a' }, []],
  ['clear_cache', 'delete', { index: 'a' }, []],
  ['pg_manage_indexes', 'delete', { operation: 'drop', indexName: 'orders_email' }, []],
  ['delete_objects', 'delete', { bucket: 'a', prefix: '' }, ALL],
  ['delete_objects', 'delete', { bucket: 'a', prefix: 'tmp' }, []],
  ['list_objects', 'read', { bucket: 'a', prefix: '' }, []],
  ['destroy_vm', 'delete', { vmid: 'all' }, ALL],
  ['destroy_vm', 'delete', { vmid: '101' }, []],
  ['batch_delete', 'delete', { query: 'in:anywhere' }, ALL],
  ['search', 'read', { query: 'in:anywhere' }, []],
  ['node_management', 'execute', { operation: 'drain', nodeName: 'a' }, WHOLE],
  ['node_management', 'execute', { operation: 'cordon', nodeName: 'a' }, []],
])('everything of a kind: %s, a %s, with %o', (name, action, args, found) => {
  expect(reach(name, action, args)).toEqual(found);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['delete_rows', { start: 1, end: 5_000 }, BULK],
  ['delete_rows', { start: 4, end: 6 }, []],
  ['delete_text', { start: 1, end: 5_000 }, []],
  ['delete_rows', { startIndex: 100, endIndex: 5 }, []],
  ['clear_values', { range: 'A1:ZZ100000' }, BULK],
  ['clear_values', { range: 'Sheet1!A:Z' }, BULK],
  ['clear_values', { range: "'My sheet'!$B$2:$C$9" }, []],
  ['clear_values', { range: 'A1' }, []],
  ['delete_items', { range: '1-5000' }, BULK],
  ['delete_items', { range: ' 1..101 ' }, BULK],
  ['delete_items', { range: '1-100' }, []],
  ['delete_items', { range: '5000-1' }, []],
  ['delete_messages', { uids: '1:5000' }, BULK],
  ['delete_messages', { uids: '1:*' }, [...BULK, ...ALL]],
  ['delete_messages', { uids: '17' }, []],
  ['clear_formatting', { range: 'A1:Z1000' }, []],
  ['clear_values', { range: `${'!'.repeat(5_000)}A1:B2` }, []],
])('a range: %s with %o', (name, args, found) => {
  expect(reach(name, 'delete', args)).toEqual(found);
});

it.each<[string, string[]]>([
  ['send_campaign', MANY],
  ['campaigns_send', MANY],
  ['schedule_newsletter', MANY],
  ['send_test_campaign', []],
  ['create_campaign', []],
  ['get_campaign_stats', []],
  ['send_email', []],
])('everybody on a list gets what is sent: %s', (name, found) => {
  expect(reach(name, 'execute', { campaign_id: 'a' })).toEqual(found);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['create_notification', { included_segments: ['All'], contents: 'a' }, MANY],
  ['create_notification', { user_id: 'a', contents: 'a' }, []],
  ['git_push_all', { remote: 'origin' }, []],
  ['send_dm_all', { guild_id: 'a', message: 'b' }, MANY],
  ['send_email', { list_id: 'a', subject: 'b' }, MANY],
  ['send_email', { to: 'a@b.example', list_id: 'a' }, []],
])('a list of recipients is named: %s with %o', (name, args, found) => {
  expect(reach(name, 'execute', args)).toEqual(found);
});

it.each<[ReachCall['args'], string[]]>([
  [
    {
      method: 'POST',
      url: 'http://es:9200/a/_delete_by_query',
      body: '{"query":{"match_all":{}}}',
    },
    ALL,
  ],
  [{ method: 'POST', url: 'http://es:9200/a/_delete_by_query', body: '{"query":{"term":{}}}' }, []],
  [{ method: 'POST', url: 'http://es:9200/a/_search', body: '{"query":{"match_all":{}}}' }, []],
])('a request by query: %o', (args, found) => {
  expect(reach('http_request', 'execute', args)).toEqual(found);
});
