/** What calls do in services that name no paths: clusters, key-value stores, GraphQL, mail, calendars. */
import { describe, expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reachOf = createReach();
const reach = (name: string, args: ReachCall['args'], action: ReachCall['action'] = 'execute') =>
  reachOf(name, action, args);
const run = (command: string) => reach('run_command', { command });

const keys = (count: number) => Array.from({ length: count }, (_, at) => `key:${at}`);
const people = (count: number) => Array.from({ length: count }, (_, at) => `p${at}@a.example`);
const members = (count: number) => Object.fromEntries(keys(count).map((key) => [key, 'a']));

const CLUSTER = ['escalate config_path'];
const BULK = ['escalate bulk_action'];
const MANY = ['escalate email_recipients'];
const ALL = ['escalate delete_wildcard'];
const WHOLE = ['escalate delete_whole'];

describe('the namespaces of a cluster itself', () => {
  const manifest =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: kube-system\n';
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'kube-system' } };

  it.each<[string, ReachCall['args']]>([
    ['kubectl_apply', { manifest, dryRun: false }],
    ['kubectl_apply', { manifest: `# a\n---\n${manifest}` }],
    ['kubectl_apply', { manifest: manifest.replace('kube-system', '"kube-system" # b') }],
    ['kubectl_create', { manifest: 'kind: A\nmetadata: {name: a, namespace: kube-system}' }],
    ['kubectl_apply', { manifest: 'kind: Namespace\nmetadata:\n  name: kube-system' }],
    ['kubectl_apply', { manifest: JSON.stringify(object) }],
    ['kubectl_apply', { manifests: [manifest] }],
    ['apply', { items: [object] }],
    ['resources_create_or_update', { resource: manifest }],
    ['k8s_replace', { manifest: object }],
    ['kubectl_patch', { namespace: 'kube-system', name: 'a', patch: {} }],
    ['kubectl_generic', { command: 'edit', namespace: 'kube-system', resourceType: 'cm' }],
    ['kubectl_rollout', { subCommand: 'restart', namespace: 'kube-system', name: 'coredns' }],
    ['kubectl_scale', { namespace: 'kube-system', name: 'coredns', replicas: 0 }],
    ['kubectl_delete', { resourceType: 'pod', name: 'a', namespace: 'kube-system' }],
    ['pods_delete', { name: 'coredns-1', namespace: 'kube-system' }],
    ['restart_deployment', { deployment: 'coredns', namespace: 'kube-system' }],
    ['upgrade_helm_chart', { name: 'cilium', namespace: 'kube-system' }],
    ['k8s_api', { method: 'DELETE', path: '/api/v1/namespaces/kube-system/pods/coredns-1' }],
  ])('%s with %o changes them', (name, args) => expect(reach(name, args)).toEqual(CLUSTER));

  it.each<[string, ReachCall['args']]>([
    ['kubectl_apply', { manifest, dryRun: true }],
    ['kubectl_apply', { manifest: manifest.replace('kube-system', 'payments') }],
    ['kubectl_apply', { manifest: "kind: A\nmetadata:\n  name: a\ndata:\n  b: 'kube-system'" }],
    [
      'kubectl_apply',
      { manifest: 'kind: A\nmetadata:\n  name: a\nsubjects:\n- namespace: kube-system' },
    ],
    ['kubectl_logs', { namespace: 'kube-system', name: 'a' }],
    ['kubectl_rollout', { subCommand: 'status', namespace: 'kube-system', name: 'coredns' }],
    ['kubectl_rollout', { subCommand: 'restart', namespace: 'shop', name: 'web' }],
    ['kubectl_delete', { resourceType: 'pod', name: 'a', namespace: 'kube-system', dryRun: true }],
    ['pods_list', { namespace: 'kube-system' }],
    ['run_query', { namespace: 'kube-system', query: 'up' }],
    ['pods_exec', { namespace: 'kube-system', name: 'a', command: ['date'] }],
    ['write_file', { path: '/srv/a/b.yaml', content: manifest }],
    ['validate_manifest', { manifest }],
  ])('%s with %o does not', (name, args) => expect(reach(name, args)).toEqual([]));

  it.each([
    'kubectl -n kube-system apply -f a.yaml',
    'sudo kubectl edit cm coredns --namespace=kube-system',
    `kubectl apply -f - <<'E'\n${manifest}E`,
    `kubectl apply -f - <<< '${manifest}'`,
    'kubectl delete pod coredns-1 -n kube-system',
    'kubectl -n kube-system rollout restart deploy/coredns',
    'kubectl scale deploy coredns --replicas=0 -nkube-system',
    'helm -n kube-system upgrade cilium cilium/cilium',
  ])('%s changes them', (command) => expect(run(command)).toEqual(CLUSTER));

  it.each([
    'kubectl get pods -n kube-system',
    'kubectl -n kube-system logs a',
    'kubectl -n kube-system rollout status deploy/coredns',
    'kubectl -n kube-system get pods -l run=delete',
    'kubectl -n kube-system delete pod coredns-1 --dry-run=server',
    'helm -n kube-system get values cilium',
    'kubectl config set-context --current --namespace=kube-system',
    'kubectl -n shop rollout restart deploy/web',
    'kubectl -n kube-system apply --dry-run=client -f a.yaml',
  ])('%s does not', (command) => expect(run(command)).toEqual([]));
});

it.each<[ReachCall['args'], string[]]>([
  [{ command: 'MSET', args: keys(240) }, BULK],
  [{ command: 'MSET', args: keys(200) }, []],
  [{ command: ['JSON.MSET', ...keys(400)] }, BULK],
  [{ command: `redis-cli -n 1 mset ${keys(240).join(' ')}` }, BULK],
  [{ command: `DEL ${keys(120).join(' ')}` }, BULK],
  [{ command: 'DEL cart:8812' }, []],
  [{ command: 'DEL C:\\' }, ['deny delete_depth']],
  [{ command: 'del notes' }, ['escalate delete_depth']],
])('keys of a store: %o', (args, found) => expect(reach('execute', args)).toEqual(found));

it.each<[string, ReachCall['args'], string[]]>([
  ['send_multicast', { tokens: keys(60) }, MANY],
  ['send_push', { registration_ids: keys(60) }, MANY],
  ['send_notification', { user_ids: keys(60) }, MANY],
  ['send_each', { messages: keys(60).map((token) => ({ token })) }, MANY],
  ['send_message', { token: 'a', to: people(50) }, []],
  ['send_email', { from: 'a@b.example', reply_to: 'c@b.example', to: people(50) }, []],
  ['send_email', { from: { email: 'a@b.example' }, to: people(50) }, []],
  ['send_email', { from: 'a@b.example', to: people(51) }, MANY],
  ['send_email', { reply_to: people(60) }, MANY],
  ['freebusy_query', { items: people(160).map((id) => ({ id })) }, []],
  ['book_availability', { attendees: people(60) }, MANY],
])('%s with %o', (name, args, found) => expect(reach(name, args)).toEqual(found));

it.each<[string, object | undefined, string[]]>([
  ['mutation { delete_orders(where: {}) { affected_rows } }', undefined, ALL],
  ['mutation A { b: update_users(_set: {a: ")"}, where: { # c\n }) { d } }', undefined, ALL],
  ['mutation { delete_orders(where: {_and: []}) { a } }', undefined, ALL],
  ['mutation { deleteManyOrder { count } }', undefined, ALL],
  ['mutation($w: W!) { deleteManyOrder(where: $w) { count } }', { w: {} }, ALL],
  ['mutation($w: W! = {}) { deleteManyOrder(where: $w) { count } }', undefined, ALL],
  ['mutation($w: W!) { deleteManyOrder(where: $w) { count } }', { w: { id: 1 } }, []],
  ['mutation { delete_orders(where: {id: {_eq: 1}}) { a(where: {}) { id } } }', undefined, []],
  ['mutation DeleteAllOld { close(id: 1) { id } }', undefined, []],
  ['query { orders(where: {}) { id } }', undefined, []],
])('%s with %o', (query, variables, found) => {
  expect(reach('graphql', { query, variables })).toEqual(found);
});

it.each<[string, ReachCall['args'], string[]]>([
  ['mget', { index: 'a', ids: keys(250) }, []],
  ['multi_get', { ids: keys(250) }, []],
  ['batch_update', { ids: keys(250) }, BULK],
  ['plot_chart', { mapping: members(150) }, []],
  ['translate_batch', { entries: keys(150) }, []],
  ['translate_and_publish', { entries: keys(150) }, BULK],
  ['put_mapping', { mapping: members(150) }, BULK],
  ['graph_request', { method: 'GET', path: '/users?$top=200&$select=mail' }, []],
  ['write_file', { path: '/e?c/hosts' }, ['escalate config_path']],
  ['write_file', { path: '/e*/hosts' }, ['escalate config_path']],
  ['write_file', { path: '/{a,etc}/hosts' }, ['escalate config_path']],
])('%s with %o', (name, args, found) => expect(reach(name, args)).toEqual(found));

it.each<[string, ReachCall['args'], string[]]>([
  ['delete_branch', { owner: 'a', repo: 'b', branch: 'feature/c' }, []],
  ['delete_branch', { project_id: 'a/b', branch: 'tmp-1' }, []],
  ['delete_branch', { owner: 'a', repo: 'b', branch: 'release/1' }, WHOLE],
  ['delete_branch', { branch: 'feature/c' }, WHOLE],
  ['delete_branch', { projectId: 'a', branchId: 'b' }, WHOLE],
  ['delete_branch', { projectId: 'a', branch: 'br-cool-1' }, WHOLE],
  ['delete_branch', { project: 'a', database: 'b', branch: 'c' }, WHOLE],
  ['git_branch', { path: '/srv/a/b', mode: 'delete', branchName: 'feature/c' }, []],
  ['git_branch', { path: '/srv/a/b', mode: 'delete', branchName: 'main' }, WHOLE],
  ['git_branch', { path: '/srv/a/b', mode: 'delete', branchName: 'origin/main' }, WHOLE],
  ['neon_branch', { path: '/srv/a/b', mode: 'delete', branchName: 'feature/c' }, WHOLE],
  ['delete_branch', { repo: 'a', branch: 'b*' }, [...WHOLE, ...ALL]],
  ['delete_user_pool', { id: 'a' }, WHOLE],
  ['delete_node_pool', { id: 'a' }, []],
  ['delete_hosted_zone', { id: 'a' }, WHOLE],
  ['remove_all_members', { team_id: 'a' }, ALL],
  ['remove_all_members', { team_id: 'a', status: 'left' }, []],
  ['remove_member', { team_id: 'a', user_id: 'b' }, []],
  ['remove_all_breakpoints', { session_id: 'a' }, []],
])('%s with %o', (name, args, found) => {
  expect(reach(name, args, 'delete')).toEqual([...found].sort());
});
