/** Files, things and filters that are named in forms of their own. */
import { expect, it } from 'vitest';
import { DEFAULT_BLAST_RADIUS } from '../../blast-radius-settings.ts';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach({
  ...DEFAULT_BLAST_RADIUS,
  protected_file_patterns: ['*.env', '*.key', '**/.git/hooks/**'],
});

const PROTECTED = ['deny protected_file'];
const content = 'A=1';

it.each<[string, ReachCall['args'], string[]]>([
  ['push_files', { files: [{ name: '.env', content }] }, PROTECTED],
  ['push_files', { files: [{ filename: '.env', content }] }, PROTECTED],
  ['create_files', { files: [{ file_name: '.env', content }] }, PROTECTED],
  ['create_files', { files: [{ fileName: '.env', content }] }, PROTECTED],
  ['create_gist', { files: { '.env': { content } } }, PROTECTED],
  ['create_gist', { files: { 'a.md': { content }, 'b.key': { content } } }, PROTECTED],
  ['update_snippet', { files: { '.env': content } }, PROTECTED],
  ['write', { file_name: '.env', content }, PROTECTED],
  ['create_file', { directory: '/srv/a', name: '.env', content }, PROTECTED],
  ['create_file', { dir: '/srv/a', name: '.env', content }, PROTECTED],
  ['create_file', { folder: '/srv/a', filename: '.env', content }, PROTECTED],
  ['create_files', { folder: 'a', files: [{ name: '.env', content }] }, PROTECTED],
  ['write_file', { folder: 'a/.git/hooks', name: 'pre-commit', content }, PROTECTED],
  ['write_file', { folder: 'a/.git/hooks', filename: 'pre-commit', content }, PROTECTED],
  ['create_gist', { files: { 'a.md': { content: 'see .env' } } }, []],
  ['create_gist', { description: 'a.key', files: { 'a.md': { content } } }, []],
  ['push_files', { files: [{ path: 'a.md', content: '.env' }] }, []],
  ['create_key', { name: 'ssh.key', content }, []],
  ['create_issue', { title: 'a.key', labels: [{ name: 'x.env' }] }, []],
  ['send_email', { files: [{ name: 'a.key', content }] }, []],
])('files that %s writes by their names (%#)', (name, args, found) => {
  expect(reach(name, 'write', args)).toEqual(found);
});

it('files that are only named', () => {
  const args = { folder: 'a', files: [{ name: '.env', content }] };
  expect(reach('get_gist', 'read', args)).toEqual([]);
});
