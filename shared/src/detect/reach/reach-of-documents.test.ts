/** Places within a document, and files whose arguments have such names. */
import { describe, expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();
type Case = [string, ReachCall['args']];

const FILE = { file_path: '/srv/app/config.json' };

describe('A place within a document is deleted, and no file', () => {
  it.each<Case>([
    // mcp-json-yaml-toml
    ['data', { ...FILE, operation: 'delete', key_path: 'flags' }],
    ['data', { ...FILE, operation: 'delete', key_path: 'db.hosts[0]' }],
    ['data', { ...FILE, operation: 'delete', key_path: 'users.0.id' }],
    ['json_delete', { path: 'conf/app.json', jsonpath: '$.users' }],
    ['json_remove', { path: 'conf/app.json', json_pointer: '/flags' }],
    ['json_remove', { path: 'conf/app.json', json_pointer: '/a~1b/0' }],
    ['json_remove', { path: 'conf/app.json', json_path: "$['users'][0]" }],
    ['delete_xml_value', { file: 'conf/app.xml', xpath: "/root/item[@id='1']" }],
    ['unset_yaml', { file: 'conf/app.yml', property_path: 'services' }],
    ['delete_toml', { file: 'conf/app.toml', key_paths: ['tool', 'project'] }],
  ])('%s %j', (name, args) => expect(reach(name, 'delete', args)).toEqual([]));

  it('and still names what is protected', () => {
    const args = { ...FILE, key_path: 'tls.key' };
    expect(reach('data', 'delete', args)).toContain('deny protected_file');
  });
});

describe('A file', () => {
  const SHALLOW = 'escalate delete_depth';
  const ROOT = 'deny delete_depth';

  it.each<[string, ReachCall['args'], string]>([
    // Without the document.
    ['data', { operation: 'delete', key_path: 'flags' }, SHALLOW],
    ['data', { text: 'a.json', key_path: 'flags' }, SHALLOW],
    ['data', { file_path: '', key_path: 'flags' }, ROOT],
    ['data', { json_path: 'app.json', key_path: 'flags' }, SHALLOW],
    ['data', { file_path: '/srv/app/keys', key_path: 'flags' }, SHALLOW],
    // It looks like a file, or reaches far.
    ['data', { ...FILE, key_path: 'id_rsa.pub' }, SHALLOW],
    ['data', { ...FILE, key_path: 'backup.json' }, SHALLOW],
    ['data', { ...FILE, key_path: '.ssh' }, SHALLOW],
    ['data', { ...FILE, key_path: '/home' }, ROOT],
    ['data', { ...FILE, key_path: '..' }, ROOT],
    ['data', { ...FILE, key_path: 'a/../..' }, ROOT],
    ['data', { ...FILE, key_path: '~' }, ROOT],
    ['data', { ...FILE, key_path: '$HOME' }, ROOT],
    ['json_remove', { ...FILE, json_pointer: '/~root' }, ROOT],
    ['data', { ...FILE, key_path: 'c:' }, ROOT],
    ['data', { ...FILE, key_path: '%2fhome' }, ROOT],
    ['data', { ...FILE, key_path: '*' }, 'deny delete_wildcard'],
    ['json_delete', { ...FILE, jsonpath: '$..*' }, 'escalate delete_wildcard'],
    ['json_remove', { ...FILE, json_pointer: '/' }, ROOT],
    ['json_remove', { ...FILE, json_pointer: '/../home' }, ROOT],
    // The tool deletes files, or nobody knows what.
    ['delete_file', { ...FILE, key_path: 'projects' }, SHALLOW],
    ['delete_data_folder', { ...FILE, key_path: 'projects' }, SHALLOW],
    ['delete_key', { ...FILE, key_path: 'id_rsa' }, SHALLOW],
    ['ssh_forget', { ...FILE, key_path: 'id_rsa' }, SHALLOW],
    // Arguments of files, whatever they are called.
    ['data', { ...FILE, config_path: 'flags' }, SHALLOW],
    ['data', { ...FILE, path: 'flags' }, SHALLOW],
    // The document itself.
    ['data', { file_path: 'config.json', operation: 'delete', key_path: 'flags' }, SHALLOW],
  ])('%s %j is deleted', (name, args, found) =>
    expect(reach(name, 'delete', args)).toContain(found));

  it.each<[string, ReachCall['action'], ReachCall['args'], string]>([
    ['ssh_connect', 'read', { key_path: '/home/u/.ssh/id.pem' }, 'escalate protected_file'],
    ['data', 'read', { ...FILE, key_path: '/home/u/.ssh/id.pem' }, 'escalate protected_file'],
    ['data', 'read', { ...FILE, key_path: 'id.pem' }, 'escalate protected_file'],
    ['data', 'write', { ...FILE, key_path: '/etc/app.json' }, 'escalate config_path'],
    ['ssh_keygen', 'write', { ...FILE, key_path: '/srv/id.pem' }, 'deny protected_file'],
  ])('%s of a key (%s %j) is named', (name, action, args, found) =>
    expect(reach(name, action, args)).toEqual([found]));
});
