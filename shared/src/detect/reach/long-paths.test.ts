/** Paths of a megabyte: they are read whole, and cost no more than their length. */
import { describe, expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';

const reachOf = createReach({
  ...DEFAULT_BLAST_RADIUS,
  config_path_prefixes: ['/etc/', '~/.ssh/'],
  protected_file_patterns: ['*.pem', '.ssh/**'],
});
const deleted = (args: Record<string, unknown>) => reachOf('delete_file', 'delete', args);
const written = (path: string) => reachOf('write_file', 'write', { path });

const LENGTH = 1024 * 1024;
const long = (unit: string) => unit.repeat(LENGTH / unit.length);

describe('however long it is', () => {
  it.each([
    ['slashes', long('/')],
    ['backslashes', long('\\')],
    ['folders and their parents', long('/a/..')],
    ['dots', `/${long('./')}`],
    ['encoded slashes', long('%2f')],
    ['slashes that are encoded three times', long('%25252f')],
    ['empty folders', long('/ ')],
  ])('a path of %s is the root', (_what, path) => {
    expect(deleted({ path })).toContain('deny delete_depth');
    expect(written(`${path}/etc/hosts`)).toContain('escalate config_path');
    expect(written(`${path}/srv/a.pem`)).toContain('deny protected_file');
  });

  it('a share begins behind its machine and its name', () => {
    expect(deleted({ path: '\\\\host\\c$' })).toContain('deny delete_depth');
    expect(written('\\\\host\\root\\etc\\hosts')).toEqual(['escalate config_path']);
    expect(written(`\\\\host/root/etc/${long('a\\')}`)).toContain('escalate config_path');
  });

  it('a path that is too long to be compared with a pattern of folders counts as protected', () => {
    expect(written(`/srv/${'a/'.repeat(2_040)}b`)).toEqual([]);
    expect(written(`/srv/${'a/'.repeat(2_050)}b`)).toEqual(['deny protected_file']);
  });
});

describe('in a folder with a long name', () => {
  const paths = Array.from({ length: 2_000 }, (_, at) => `f${at}`);

  it('the folder is read for many paths', () => {
    expect(deleted({ cwd: `/etc/${'a'.repeat(400)}`, paths })).toEqual([
      'escalate bulk_action',
      'escalate config_path',
    ]);
  });

  it.each([
    ['is long', `/${'a'.repeat(LENGTH / 2)}`],
    ['is deep', '/a'.repeat(LENGTH / 4)],
  ])('a person is asked where it %s, instead of reading it for each path', (_what, cwd) => {
    const began = process.cpuUsage();
    expect(deleted({ cwd, paths: [...paths, 'a.pem'] })).toEqual([
      'deny protected_file',
      'escalate bulk_action',
      'escalate delete_depth',
      'escalate unreadable',
    ]);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});

it('a person decides where a path is encoded again and again, and its spellings are too long together', () => {
  const path = `${long('/a')}%2525252541\u00a0"`;
  expect(deleted({ path })).toContain('escalate unreadable');
  expect(written(path)).toContain('escalate unreadable');
  expect(reachOf('read_file', 'read', { path })).toContain('escalate unreadable');
  // As long, and not disguised: the text of a picture begins with a slash, too.
  expect(written(`/9j/${long('4AAQ')}`)).not.toContain('escalate unreadable');
});
