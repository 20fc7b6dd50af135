import { NOUNS, VERBS } from '@governance/shared/mcp/tool-words';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from './calls.ts';
import { deriveAction, worseAction } from './tool-action.ts';

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
    // The most dangerous word wins, wherever it stands.
    ['get_and_wipe', 'delete'],
    ['list_delete_all', 'delete'],
    ['download_and_execute', 'execute'],
    ['lookup_then_pay', 'execute'],
    ['get_or_create_user', 'write'],
    ['execute_drop', 'delete'],
    ['readWriteFile', 'write'],
    ['fetch_and_forget', 'delete'],
    ['retrieve_and_pop', 'delete'],
    ['get_and_dequeue', 'delete'],
    ['compare_and_swap', 'write'],
    ['read_and_ack', 'write'],
    ['get_pop_songs', 'read'],
    ['bulkdelete', 'delete'],
    ['GETDELETE', 'delete'],
    ['fetch_readwrite', 'write'],
    // What says nothing.
    ['query', 'execute'],
    ['fetch', 'execute'],
    ['call', 'execute'],
    // Nouns.
    ['email_report', 'execute'],
    ['get_email', 'read'],
    ['get_and_email', 'execute'],
    ['list_comment_threads', 'read'],
    ['comment_on_issue', 'write'],
    ['read_then_post', 'write'],
    ['get_run', 'read'],
    ['describe_tag', 'read'],
    ['get_order_status', 'read'],
    ['zap_list', 'execute'],
    ['zap_status', 'execute'],
    ['slack_list_channels', 'read'],
    ['list_deleted', 'read'],
    // However it is written.
    ['HTTPDelete', 'delete'],
    ['getURLAndDELETE', 'delete'],
    ['GET_AND_WIPE', 'delete'],
    ['get.then.rm', 'delete'],
    ['rm2', 'delete'],
    ['s3delete', 'delete'],
    ['get/../delete', 'delete'],
    ['deletefile', 'delete'],
    ['listélete_d\u00e9lete', 'delete'],
    ['ＤＥＬＥＴＥ_file', 'delete'],
    ['get_d\u0435lete', 'execute'],
    ['get_\u1d05elete', 'execute'],
    ['get_d\u00adelete', 'delete'],
    ['get_del\u200bete', 'delete'],
  ])('%s alone is %s', (name, action) => {
    expect(deriveAction(name, undefined)).toBe(action);
  });

  it('lets a hint settle what the name leaves open', () => {
    for (const name of ['echo', 'query', 'fetch', 'call']) {
      expect(deriveAction(name, { readOnlyHint: true })).toBe('read');
      expect(deriveAction(name, { readOnlyHint: false })).toBe('write');
      expect(deriveAction(name, { destructiveHint: true })).toBe('delete');
      expect(deriveAction(name, { destructiveHint: false })).toBe('execute');
    }
  });

  it('lets a hint raise what the name says', () => {
    expect(deriveAction('get_and_return', { destructiveHint: true })).toBe('write');
    expect(deriveAction('list_things', { readOnlyHint: false })).toBe('write');
    const both = { readOnlyHint: true, destructiveHint: true };
    expect(deriveAction('query', both)).toBe('delete');
    expect(deriveAction('list_things', both)).toBe('write');
    expect(deriveAction('write_file', { readOnlyHint: false, destructiveHint: true })).toBe(
      'write',
    );
  });

  const hint = fc.option(fc.boolean(), { nil: undefined });
  const hints = fc.record({ readOnlyHint: hint, destructiveHint: hint });
  const verbs = VERBS.flatMap(([action, words]) => words.split(' ').map((w) => [w, action]));
  const nouns = NOUNS.flatMap(([action, words]) => words.split(' ').map((w) => [w, action]));
  const verb = fc.constantFrom(...(verbs as [string, Action][]));
  const separator = fc.constantFrom('_', '-', '.', '/', ' ', '2');
  const filler = fc.constantFrom('file', 'all', 'get', 'list', 'query', 'and', 'x', 'status');

  it('never says less than any verb of a name, whatever the server hints', () => {
    fc.assert(
      fc.property(fc.array(filler), verb, fc.array(filler), separator, hints, (a, v, b, by, h) => {
        const found = deriveAction([...a, v[0], ...b].join(by), h);
        expect(worseAction(found, v[1])).toBe(found);
      }),
    );
  });

  it('never says less than a noun that begins, or follows and, then', () => {
    const noun = fc.constantFrom(...(nouns as [string, Action][]));
    const before = fc.constantFrom('', 'get_and_', 'list_x_then_');
    fc.assert(
      fc.property(before, noun, hints, (begin, [word, action], h) => {
        const found = deriveAction(`${begin}${word}_x`, h);
        expect(worseAction(found, action)).toBe(found);
      }),
    );
  });

  it('uses the administrator’s setting as long as the definition is the one it was made for', () => {
    const said = (action: Action, isInForce: boolean) => ({ override: { action, isInForce } });
    expect(deriveAction('git_status', said('read', true))).toBe('read');
    expect(deriveAction('delete_draft', said('write', true))).toBe('write');
    expect(deriveAction('get_report', said('delete', true))).toBe('delete');
    // Once it has lapsed it can only raise.
    expect(deriveAction('git_status', said('read', false))).toBe('execute');
    expect(deriveAction('get_report', said('delete', false))).toBe('delete');
  });
});
