import { describe, expect, it } from 'vitest';
import { compareChecks, differences } from './compare.ts';

const check = (id: string, status: string, errorMessage?: string) => ({
  scenario: 'tools-list',
  id,
  status,
  errorMessage,
});

describe('compareChecks', () => {
  it('finds no difference between equal runs, failures included', () => {
    const run = [check('a', 'SUCCESS'), check('b', 'FAILURE', 'no')];
    const rows = compareChecks(run, run);
    expect(rows.map(({ check: name }) => name)).toEqual(['tools-list / a', 'tools-list / b']);
    expect(differences(rows)).toEqual([]);
  });

  it('names the check that fares worse or better through the gateway, and says why', () => {
    const rows = compareChecks(
      [check('a', 'SUCCESS'), check('b', 'FAILURE')],
      [check('a', 'FAILURE', 'broken'), check('b', 'SUCCESS')],
    );
    expect(differences(rows)).toEqual([
      { check: 'tools-list / a', alone: 'SUCCESS', through: 'FAILURE', message: 'broken' },
      { check: 'tools-list / b', alone: 'FAILURE', through: 'SUCCESS', message: undefined },
    ]);
  });

  it('sees a check that only one run came to', () => {
    expect(differences(compareChecks([check('a', 'SUCCESS')], []))).toMatchObject([
      { alone: 'SUCCESS', through: '-' },
    ]);
    expect(differences(compareChecks([], [check('a', 'WARNING')]))).toMatchObject([
      { alone: '-', through: 'WARNING' },
    ]);
  });

  it('compares a check that is made twice in turn', () => {
    const rows = compareChecks(
      [check('a', 'SUCCESS'), check('a', 'SUCCESS')],
      [check('a', 'SUCCESS'), check('a', 'FAILURE')],
    );
    expect(differences(rows)).toMatchObject([{ check: 'tools-list / a (2)', through: 'FAILURE' }]);
  });

  it('leaves out what the suite only notes', () => {
    const rows = compareChecks([check('event', 'INFO')], [check('other', 'INFO')]);
    expect(rows).toEqual([]);
  });

  it('sees a check that became a note', () => {
    expect(differences(compareChecks([check('a', 'SUCCESS')], [check('a', 'INFO')]))).toMatchObject(
      [{ alone: 'SUCCESS', through: 'INFO' }],
    );
  });
});
