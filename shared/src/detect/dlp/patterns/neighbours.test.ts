import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));
const places = (value: unknown) => scanner.scanValue(value).map(({ place }) => place);

const KEY =
  'x3n0Ri6kHnGZ4JbIpn5k8jQq6TnOIJ2n8fT0ZQp3Kf7QOJ5q1Ok3m0Yb7VtZ1cRwz8uS2xE4hD6gB9aN+AStqw==';
const SHORT = 'x3n0Ri6kHnGZ4JbIpn5k8jQq6TnOIJ2n8fT0ZQp3Kf7=';
const SESSION = '9f8e7d6c5b4a39281706';

const random = (attributes: object) => ({
  resources: [
    { mode: 'managed', type: 'random_password', name: 'db', instances: [{ attributes }] },
    {
      mode: 'managed',
      type: 'null_resource',
      instances: [{ attributes: { result: 'Kt9vQ2mLx8' } }],
    },
  ],
});
const state = random({
  bcrypt_hash: '$2a$10$Q7nZ5wPlq0FfYb8T1cVtBe',
  id: 'none',
  result: 'kT9#vQ2mLx8R',
});
const outputs = {
  client_secret: { value: 'aG9yc2ViYXR0ZXJ5OTkx', type: 'string', sensitive: true },
  db_main: { sensitive: true, type: 'string', value: 'Zm9vLWJhci03NzE=' },
  region: { sensitive: false, type: 'string', value: 'eu-central-1a' },
};
const keys = [{ creationTime: null, keyName: 'key1', permissions: 'FULL', value: KEY }];
const log = {
  headers: [
    { name: 'Cookie', value: `theme=dark; session=${SESSION}` },
    { name: 'Accept', value: 'text/html' },
  ],
  cookies: [{ name: 'sessionid', value: SESSION, path: '/' }],
};

describe('secrets that a neighbouring field tells of', () => {
  it.each([
    [
      'a state of Terraform',
      state,
      ['kT9#vQ2mLx8R'],
      ['/resources/0/instances/0/attributes/result'],
    ],
    [
      'outputs of Terraform',
      outputs,
      ['aG9yc2ViYXR0ZXJ5OTkx', 'Zm9vLWJhci03NzE='],
      ['/client_secret/value', '/db_main/value'],
    ],
    ['keys of a storage', keys, [KEY], ['/0/value']],
    ['a log of HTTP', log, [SESSION, SESSION], ['/headers/0/value', '/cookies/0/value']],
    [
      'settings of a site',
      [{ name: 'ADMIN_TOKEN', slotSetting: false, value: 'f3a9c1e77b2d4405' }],
      ['f3a9c1e77b2d4405'],
      ['/0/value'],
    ],
    [
      'keys of a database',
      { primaryKey: SHORT, primary_access_key: KEY },
      [SHORT, KEY],
      ['/primaryKey', '/primary_access_key'],
    ],
    [
      'a stored parameter',
      { Parameter: { Name: '/prod/db/main', Type: 'SecureString', Value: 'kT9vQ2mLx8Rz' } },
      ['kT9vQ2mLx8Rz'],
      ['/Parameter/Value'],
    ],
    [
      'a stored secret',
      { id: 'https://kv.vault.azure.net/secrets/db/9f8e', name: 'db', value: 'kT9vQ2mLx8Rz!a' },
      ['kT9vQ2mLx8Rz!a'],
      ['/value'],
    ],
    ['a data key', { CiphertextBlob: 'AQIDAHh', Plaintext: SHORT }, [SHORT], ['/Plaintext']],
    ['a key string', { keyString: SHORT, name: 'projects/1' }, [SHORT], ['/keyString']],
    [
      'passwords of a registry',
      {
        passwords: [
          { name: 'password', value: 'kT9vQ2mLx8RzA1' },
          { name: 'password2', value: 'kT9vQ2mLx8RzA2' },
        ],
      },
      ['kT9vQ2mLx8RzA1', 'kT9vQ2mLx8RzA2'],
      ['/passwords/0/value', '/passwords/1/value'],
    ],
    [
      'cookies among others',
      [
        { name: 'connect.sid', value: SESSION },
        { name: '_ga', value: 'GA1.2.1234567.1234567' },
        { name: 'id_session', path: '/', value: SESSION },
      ],
      [SESSION, SESSION],
      ['/0/value', '/2/value'],
    ],
    [
      'two keys',
      { key1: '4f1a2b9c8d7e6f5a4b3c2d1e0f9a8b7c', key2: '9c8d7e6f5a4b3c2d1e0f9a8b7c4f1a2b' },
      ['4f1a2b9c8d7e6f5a4b3c2d1e0f9a8b7c', '9c8d7e6f5a4b3c2d1e0f9a8b7c4f1a2b'],
      ['/key1', '/key2'],
    ],
  ])('%s, as a value and as a text', (_, value, texts, pointers) => {
    expect(places(value)).toEqual(pointers);
    expect(found(JSON.stringify(value))).toEqual(texts);
    expect(found(JSON.stringify(value, null, 2))).toEqual(texts);
  });

  it('in a table of keys', () => {
    expect(
      found(
        `KeyName  Permissions  Value\n-------  -----------  -----\nkey1     FULL         ${SHORT}`,
      ),
    ).toEqual([SHORT]);
  });

  it.each([
    { outputs: { region: { value: 'eu-central-1a', sensitive: false } } },
    random({ result: '(sensitive value)', bcrypt_hash: '' }),
    [{ keyName: 'theme', value: 'dark-blue-2' }],
    { cookies: [{ name: 'theme', value: '9f8e7d6c5b4a39281706' }] },
    { token: { type: 'identifier', value: 'parseInt32Bits' } },
    { primaryKey: 'customer_id_2024', key1: 'value1', key2: 'value2' },
    { secret: { value: 'projects/my-proj7/secrets/api-key-3', description: 'where it is' } },
    { headers: [{ name: 'Cookie', value: 'theme=dark; lang=en' }] },
  ])('nothing in %j', (value) => {
    expect(places(value)).toEqual([]);
    expect(found(JSON.stringify(value))).toEqual([]);
  });
});

describe('tables of databases', () => {
  const TABLE = (label: string, value: string) => [
    ` id | ${label}\n----+---------------------\n  1 | ${value}\n(1 row)`,
    `+----+------------+\n| id | ${label} |\n+----+------------+\n|  1 | ${value} |\n+----+------------+`,
    `+------------+\n| ${label}   |\n+------------+\n| ${value} |\n+------------+\n1 row in set (0.00 sec)`,
    ` ${label} \n-----------------\n ${value}\n(1 row)\n`,
    `┌────┬──────┐\n│ id │ ${label} │\n├────┼──────┤\n│  1 │ ${value} │\n└────┴──────┘`,
    `| ${label} |\n|---|\n| ${value} |`,
  ];
  it.each([
    ['date_of_birth', '1984-03-12'],
    ['ssn', '219099998'],
    ['password', 'kT9vQ2mLx8'],
    ['iban', 'DE14370400447136665683'],
    ['card_number', '4532015112830366'],
  ])('%s', (label, value) => {
    for (const table of TABLE(label, value)) expect(found(table), table).toEqual([value]);
  });

  it('every row counts', () => {
    const rows = ['| jan  | kT9vQ2mLx8  |', '| eva  | hunter2Blue |'].join('\n');
    const rule = '+------+-------------+';
    expect(found(`${rule}\n| name | password    |\n${rule}\n${rows}\n${rule}`)).toEqual([
      'kT9vQ2mLx8',
      'hunter2Blue',
    ]);
  });
});
