/** Deletes of files and folders that an argument names by another name than `path`. */
import { describe, expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import type { ReachCall } from './reach-finding.ts';

const reach = createReach();
const SHALLOW = ['escalate delete_depth'];
type Case = [string, ReachCall['args']];

describe('what a delete names', () => {
  it.each<Case>([
    ['remove_folder', { folder: 'projects' }],
    ['removeFolder', { folderName: 'projects' }],
    ['delete_folder', { folder_name: 'projects' }],
    ['delete_folders', { folders: ['projects'] }],
    ['delete_folder_recursive', { folder: 'projects' }],
    ['folder.delete', { folder: 'projects' }],
    ['rmdir', { target: 'projects' }],
    ['delete_directory', { directory_name: 'projects' }],
    ['delete_directory', { location: 'home' }],
    ['delete_file', { file_name: 'README.md' }],
    ['delete_file', { fileName: 'README.md' }],
    ['delete_files', { file_names: ['README.md'] }],
    ['delete_file', { target: 'README.md' }],
    ['unlink_file', { target: 'README.md' }],
    ['file_manager', { operation: 'delete_file', target: 'README.md' }],
    ['delete_item', { location: 'home' }],
    ['delete_item', { folder: 'home', permanent: true }],
  ])('%s %j', (name, args) => expect(reach(name, 'delete', args)).toEqual(SHALLOW));

  it('may be a root', () => {
    expect(reach('remove_folder', 'delete', { folder: '..' })).toContain('deny delete_depth');
    expect(reach('delete_file', 'delete', { file_name: 'a.pem', folder: 'docs' })).toEqual([
      'deny protected_file',
    ]);
  });
});

describe('what it does not delete', () => {
  it.each<Case>([
    ['remove_folder', { folder: 'srv/projects' }],
    ['remove_folder', { folder: 'build', cwd: '/srv/app' }],
    ['delete_file', { target: 'README.md', owner: 'o', repo: 'r' }],
    ['delete_file', { folder: 'docs', file_name: 'a.md' }],
    ['delete_file', { folder: 'docs', filename: 'a.md' }],
    ['delete_file', { folder: 'docs', name: 'a.md' }],
    ['delete_file', { folder: 'docs', target: 'a.md' }],
    ['delete_file', { file_id: 'a1', location: 'Berlin' }],
    ['delete_folder', { path: 'docs/a', location: 'Berlin' }],
    ['delete_folder', { folder_id: 'a1' }],
    ['delete_email', { folder: 'INBOX', id: 5 }],
    ['delete_email', { folder_name: 'INBOX', id: 5 }],
    ['delete_item', { folder: 'INBOX', id: 5 }],
    ['delete_item', { target: 'item_5' }],
    ['delete_event', { location: 'Berlin' }],
    ['remove_folder_member', { folder: 'projects', user: 'ann' }],
    ['delete_file_comment', { target: 'a1' }],
  ])('%s %j', (name, args) => expect(reach(name, 'delete', args)).toEqual([]));

  it.each<Case>([
    ['move_email', { folder: 'Archive' }],
    ['move_email', { folder_name: 'Archive' }],
    ['create_folder', { folder_name: 'projects' }],
    ['rename_file', { old_file_name: 'a.txt', new_file_name: 'b.txt' }],
    ['send_email', { attachments: [{ file_name: 'a.pem' }] }],
  ])('%s %j', (name, args) => expect(reach(name, 'write', args)).toEqual([]));
});

it('the name of a file is a path where it is read', () => {
  expect(reach('read_file', 'read', { file_name: '.env' })).toEqual(['escalate protected_file']);
});

describe('a delete within a document', () => {
  it.each<Case>([
    ['delete_sheet', { path: 'sales.xlsx', sheet: 'Notes' }],
    ['clear_range', { path: 'sales.xlsx', sheet: 'Notes', range: 'A1:B5' }],
    ['delete_rows_or_columns', { path: 'sales.xlsx', axis: 'rows', start: 3, count: 2 }],
    ['sort_range', { path: 'sales.xlsx', range: 'A1:C41' }],
    ['delete_paragraph', { filename: 'report.docx', paragraph_index: 1 }],
  ])('%s %j leaves the file', (name, args) => expect(reach(name, 'delete', args)).toEqual([]));

  it('is judged otherwise as any delete is', () => {
    const rows = { path: 'sales.xlsx', range: 'A1:C200' };
    expect(reach('clear_range', 'delete', rows)).toEqual(['escalate bulk_action']);
    expect(reach('delete_rows', 'delete', { path: 'projects' })).toEqual(SHALLOW);
    expect(reach('delete_sheet_file', 'delete', { path: 'sales.xlsx' })).toEqual(SHALLOW);
    expect(reach('delete_rows', 'delete', { path: 'a.env' })).toEqual(['deny protected_file']);
    expect(reach('delete_note', 'delete', { path: 'today.md' })).toEqual(SHALLOW);
  });
});
