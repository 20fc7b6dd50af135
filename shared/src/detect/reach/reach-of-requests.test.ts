/** Requests to the APIs of services, and calls of tools that are a cloud's command line. */
import { expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reachOf = createReach();
const reach = (name: string, args: ReachCall['args'], action: ReachCall['action'] = 'execute') =>
  reachOf(name, action, args);
const request = (url: string) => reach('http_request', { method: 'DELETE', url });

const WHOLE = ['escalate delete_whole'];
const ALL = ['escalate delete_wildcard'];

it.each([
  'https://api.github.com/repos/acme/web',
  'https://gitlab.example.com/api/v4/projects/acme%2Fweb',
  'http://search.example.com:9200/logs-2026',
  'https://10.0.0.1:6443/api/v1/namespaces/prod',
  'https://api.example.com/client/v4/zones/abc',
  'https://example.com/rest/api/3/project/WEB',
  'https://management.azure.com/subscriptions/1/resourceGroups/prod?api-version=2021-04-01',
  'https://sqladmin.googleapis.com/v1/projects/p/instances/prod',
  'https://storage.googleapis.com/storage/v1/b/backups',
  'https://bigquery.googleapis.com/bigquery/v2/projects/p/datasets/d?deleteContents=true',
  'https://backups.s3.eu-west-1.amazonaws.com/',
])('DELETE %s removes a whole store', (url) => expect(request(url)).toEqual(WHOLE));

it.each([
  'https://10.0.0.1:6443/api/v1/namespaces/prod/pods',
  'https://10.0.0.1:6443/apis/apps/v1/namespaces/prod/deployments',
  'http://search.example.com:9200/_all',
  'http://search.example.com:9200/logs-*',
])('DELETE %s removes all of a kind', (url) => expect(request(url)).toEqual(ALL));

it.each([
  'https://api.github.com/repos/acme/web/labels/bug',
  'https://api.github.com/repos/acme/web/git/refs/heads/one',
  'https://api.github.com/orgs/acme/teams/ops/repos/acme/web',
  'https://api.example.com/v1/todos/17',
  'https://api.example.com/v1/users/17/groups/3',
  'https://gitlab.example.com/api/v4/groups/42/members/7',
  'https://10.0.0.1:6443/api/v1/namespaces/prod/pods/web-1',
  'https://10.0.0.1:6443/api/v1/namespaces/prod/pods?labelSelector=app%3Dweb',
  'http://search.example.com:9200/logs-2026/_doc/1',
  'https://api.example.com/client/v4/zones/abc/dns_records/1',
])('DELETE %s removes one thing', (url) => expect(request(url)).toEqual([]));

it.each([
  ['github_request', { method: 'DELETE', path: '/repos/acme/web' }, WHOLE],
  ['github_request', { method: 'DELETE', endpoint: 'repos/acme/web' }, WHOLE],
  ['github_request', { method: 'GET', path: '/repos/acme/web' }, []],
  ['github_request', { method: 'PATCH', path: '/repos/acme/web' }, []],
  ['fetch', { url: 'https://a.example/projects/1', options: { method: 'DELETE' } }, WHOLE],
  ['fetch', { url: 'https://a.example/projects/1' }, []],
  ['rest_call', { request: { method: 'DELETE', url: 'https://a.example/projects/1' } }, WHOLE],
  ['gitlab_api', { method: 'DELETE', path: 'projects/42' }, WHOLE],
  ['gitlab_api', { method: 'DELETE', path: 'projects/42/issues/5' }, []],
  ['k8s_request', { verb: 'DELETE', path: '/apis/apps/v1/namespaces/prod/deployments' }, ALL],
  ['curl', { args: ['-X', 'DELETE', 'https://api.github.com/repos/acme/web'] }, WHOLE],
  ['run_command', { command: 'kubectl delete --raw /api/v1/namespaces/prod' }, WHOLE],
  ['run_command', { command: 'curl -XDELETE localhost:9200/logs' }, WHOLE],
  // Files, although the names of folders are those of an API.
  ['file_tool', { method: 'delete', path: '/srv/work/projects/web' }, []],
])('%s %o', (name, args, found) => expect(reach(name, args)).toEqual(found));

it.each([
  ['http_delete', { url: 'https://a.example/v1/projects/1' }, WHOLE],
  ['http_delete', { url: 'https://a.example/v1/todos/1' }, []],
  ['delete_bookmark', { url: 'https://a.example/v1/projects/1' }, []],
])('%s %o, which is a delete', (name, args, found) => {
  expect(reach(name, args, 'delete')).toEqual(found);
});

it.each([
  ['use_aws', { service_name: 's3', operation_name: 'delete_bucket', parameters: {} }, WHOLE],
  ['use_aws', { operation_name: 'DeleteTable', service_name: 'dynamodb' }, WHOLE],
  ['use_aws', { service_name: 's3', operation_name: 'list_buckets', parameters: {} }, []],
  ['call_aws', { service: 'cloudformation', operation: 'deleteStack' }, WHOLE],
  ['call_aws', { cli_command: 'aws rds delete-db-instance --db-instance-identifier a' }, WHOLE],
  ['run_gcloud_command', { args: ['sql', 'instances', 'delete', 'prod'] }, WHOLE],
  ['run_gcloud_command', { args: ['compute', 'instances', 'list'] }, []],
  ['azure_cli', { args: ['group', 'delete', '-n', 'prod'] }, WHOLE],
])('%s %o', (name, args, found) => expect(reach(name, args)).toEqual(found));
