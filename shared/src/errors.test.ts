import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AppError, ERRORS, RPC_ERRORS } from './errors.ts';
import { assetPath } from './process/assets.ts';

const page = readFileSync(assetPath('docs/errors.md'), 'utf8');

/** The rows of the tables of docs/errors.md, cell by cell, without the heads. */
const rows = page
  // What follows explains some of them, with tables of its own.
  .split('\n### ', 1)
  .join('')
  .split('\n')
  .filter((line) => /^\| (`|-\d)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

describe('docs/errors.md', () => {
  it('has every HTTP error with its status and text, and no other', () => {
    const documented = rows
      .filter(([first]) => first?.startsWith('`'))
      .map(([code = '', status, text]) => [code.replaceAll('`', ''), Number(status), text]);
    const declared = Object.entries(ERRORS).map(([code, [status, text]]) => [code, status, text]);
    expect(documented).toEqual(declared);
  });

  it('has every JSON-RPC error, and no other', () => {
    const documented = rows
      .filter(([first]) => first?.startsWith('-'))
      .map(([code, name = '']) => [name.replaceAll('`', ''), Number(code)]);
    expect(Object.fromEntries(documented)).toEqual(RPC_ERRORS);
    expect(documented).toHaveLength(Object.keys(RPC_ERRORS).length);
  });

  it('says of each error what to do', () => {
    for (const row of rows.filter(([first]) => first?.startsWith('`'))) {
      expect(row[3], row[0]).toMatch(/\w/);
    }
  });
});

describe('AppError', () => {
  it('takes status and text from the table', () => {
    const error = new AppError('ROLE_NOT_FOUND');
    expect(error).toMatchObject({ status: 404, detail: 'No such role.', message: 'No such role.' });
    expect(error.errors).toBeUndefined();
  });

  it('takes a text of its own, fields and a cause', () => {
    const cause = new Error('why');
    const errors = [{ loc: ['body', 'name'], msg: 'is required', type: 'missing' }];
    const error = new AppError('VALIDATION_FAILED', 'body.name: is required', { errors, cause });
    expect(error).toMatchObject({ status: 422, detail: 'body.name: is required', errors, cause });
  });
});
