import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

const ROWS = [
  { k: 'smtp_password', seq: 0, chunk: 'kestr' },
  { k: 'smtp_password', seq: 1, chunk: 'el27!blau' },
];
const KEY = ['AKIAQ7', 'MZ3HTXW5', 'RBNC2V'];

describe('a value in rows', () => {
  it.each([
    ['in their order', JSON.stringify({ rows: ROWS })],
    ['in another order', JSON.stringify({ rows: [...ROWS].reverse() })],
    ['one below the other', ROWS.map((row) => JSON.stringify(row)).join('\n')],
    ['in JSON in JSON', JSON.stringify({ text: JSON.stringify(ROWS) })],
    ['indented', JSON.stringify(ROWS, null, 2)],
    [
      'with other names',
      JSON.stringify([
        { field: 'db_password', part_no: 2, value: 'el27!blau' },
        { field: 'db_password', part_no: 1, value: 'kestr' },
      ]),
    ],
  ])('is found %s', (_, text) => expect(patterns(text)).toEqual(['secret_assignment']));

  it('is found among the rows of others', () => {
    const others = [
      ...ROWS,
      { k: 'greeting', seq: 0, chunk: 'hel' },
      { k: 'greeting', seq: 1, chunk: 'lo' },
    ];
    expect(patterns(JSON.stringify([others[0], others[2], others[1], others[3]]))).toEqual([
      'secret_assignment',
    ]);
  });

  it('is found in a document', () => {
    expect(scanner.scanValue({ rows: ROWS })).toMatchObject([{ pattern: 'secret_assignment' }]);
    const parts = KEY.map((chunk, seq) => ({ seq, chunk })).reverse();
    expect(scanner.scanValue(parts)).toMatchObject([{ pattern: 'aws_access_key_id' }]);
  });

  it.each([
    [
      'rows of a menu',
      JSON.stringify([
        { name: 'password', order: 1, text: 'Change it' },
        { name: 'token', order: 2, text: 'Rotate it' },
      ]),
    ],
    [
      'steps',
      JSON.stringify([
        { seq: 1, text: 'open the vault' },
        { seq: 2, text: 'copy the token' },
      ]),
    ],
    [
      'measurements',
      JSON.stringify(
        Array.from({ length: 40 }, (_, i) => ({ index: i, value: String(1000 + i * 37) })),
      ),
    ],
    [
      'columns',
      JSON.stringify([
        { position: 1, value: 'password' },
        { position: 2, value: 'varchar(255)' },
      ]),
    ],
  ])('is none in %s', (_, text) => expect(patterns(text)).toEqual([]));
});
