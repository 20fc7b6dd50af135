import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveAction } from './tool-action.ts';

describe('deriveAction', () => {
  it.each([
    ['read_file', 'read'],
    ['list_directory', 'read'],
    ['getUser', 'read'],
    ['files.delete', 'delete'],
    ['delete-list', 'delete'],
    ['write_file', 'write'],
    ['createIssue', 'write'],
    ['run_query', 'execute'],
    ['send_email', 'execute'],
    ['echo', 'execute'],
    ['', 'execute'],
  ])('%s alone is %s', (name, action) => {
    expect(deriveAction(name, undefined)).toBe(action);
  });

  it('lets a hint settle what the name leaves open', () => {
    expect(deriveAction('echo', { readOnlyHint: true })).toBe('read');
    expect(deriveAction('echo', { readOnlyHint: false })).toBe('write');
    expect(deriveAction('echo', { destructiveHint: true })).toBe('delete');
    expect(deriveAction('echo', { destructiveHint: false })).toBe('execute');
  });

  it('lets a hint raise what the name says', () => {
    expect(deriveAction('get_and_forget', { destructiveHint: true })).toBe('write');
    expect(deriveAction('list_things', { readOnlyHint: false })).toBe('write');
    expect(deriveAction('write_file', { readOnlyHint: false, destructiveHint: true })).toBe(
      'write',
    );
  });

  it('never lets a hint make a read of a name that says otherwise', () => {
    const hint = fc.option(fc.boolean(), { nil: undefined });
    fc.assert(
      fc.property(
        fc.constantFrom('delete_file', 'write_file', 'run_command', 'dropTable', 'exec'),
        fc.record({ readOnlyHint: hint, destructiveHint: hint }),
        (name, hints) => {
          expect(deriveAction(name, hints)).toBe(deriveAction(name, undefined));
        },
      ),
    );
  });
});
