import { hash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { PatternBudgetError } from '../engine/pattern-contract.ts';
import { BUILTIN_PATTERNS } from './builtin-patterns.ts';
import { ScanBudgetError } from './scan-budget.ts';
import { MAX_FINDINGS } from './scan-contract.ts';
import { createDlpScanner } from './scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const patternsIn = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

const KEY = 'AKIAQ7MZ3HTXW5RBNC2V';
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkq'.repeat(4)}\n-----END PRIVATE KEY-----`;

/** Per pattern: true examples, and texts that only look like one. */
const CASES: Readonly<Record<string, { found: string[]; passed: string[] }>> = {
  aws_access_key_id: {
    found: [KEY, `id=${KEY}`],
    passed: ['AKIAXXXXXXXXXXXXXXXX', 'AKIA', `${KEY}AB`],
  },
  git_host_token: {
    found: ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'glpat-Zb3xQ9mK7vL2pR8tW5nY'],
    passed: ['ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'ghp_short'],
  },
  slack_token: { found: ['xoxb-263594206564-FGqddMF8t08v8N7Oq4i57vs1'], passed: ['xoxb-'] },
  google_api_key: { found: ['AIzaSyD4r7Kq0mVb2Xw9ZcE6nT1uLhG8pJ5sYfo'], passed: ['AIzaSy'] },
  payment_service_key: {
    found: ['sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
    passed: ['sk_live_your_key'],
  },
  messaging_service_key: {
    found: ['SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr'],
    passed: ['SG.abc.def'],
  },
  ai_service_key: {
    found: ['sk-proj-a8Kd93hfLs02mXnQpWe7RtYu5Iop1Zxc', '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'],
    passed: ['sk-placeholder-for-your-own-key', 'sk-learn-and-other-long-package-names'],
  },
  platform_token: {
    found: ['npm_d8Fk2LmQ9xZ7vB4nR6tY1wS3pH5jK0aGcEuM'],
    passed: ['npm_config_registry'],
  },
  jwt: {
    found: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'],
    passed: ['eyJ'],
  },
  aws_secret_access_key: {
    found: ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzk3mQ8rT5v'],
    passed: ['AWS_SECRET_ACCESS_KEY=$AWS_SECRET'],
  },
  azure_secret: {
    found: [
      `AccountName=x;AccountKey=${'aB3+dE5/gH7j'.repeat(7)}Zk==`,
      `azure storage ${'aB3+dE5/gH7j'.repeat(7)}Zk==`,
    ],
    passed: [
      'AccountKey=<key>',
      `"node_modules/@azure/storage-blob": { "integrity": "sha512-${'aB3+dE5/gH7j'.repeat(7)}Zk==" }`,
    ],
  },
  private_key: {
    found: [PEM, PEM.replaceAll('\n', '\\n')],
    passed: [
      'A file that starts with -----BEGIN PRIVATE KEY----- is a key.',
      PEM.replaceAll('PRIVATE', 'PUBLIC'),
    ],
  },
  connection_string: {
    found: ['postgres://app:kX93mQvw@db.corp:5432/main', 'amqp://guest:guest@mq.corp/'],
    passed: [
      'postgres://user:password@localhost/db',
      'https://host:8080/a@b',
      'redis://h:$REDIS_PASSWORD@h',
      'postgres://someuser:somepassword@somehost:381/somedatabase',
      'amqp://guest:guest@localhost/',
    ],
  },
  secret_assignment: {
    found: [
      'password = "tr0ub4dor&3"',
      'DB_PASSWORD=Sommer2024!',
      'Das Passwort lautet Regen77!',
      'mot de passe : vent-42-Nord',
      '<password>k7!mQ2z</password>',
      'user,password\nanna,Qx82!mmv\n',
      "INSERT INTO u (n, password) VALUES ('a', 'Zk82!mmv')",
      '{"name": "DB_PASSWORD", "value": "Zk82!mmv"}',
      'Authorization: Bearer 7f3Kd92LmQxZ81vB4nR6',
      '密码：Zk82!mmv',
      'api_key: 9f86d081884c7d659a2feaa0c55ad015',
      '{"passphrase": "correct horse battery staple"}',
    ],
    passed: [
      'password: string',
      'password = os.environ["DB"]',
      'token: <token>',
      'password=********',
      'max_tokens: 4096',
      'The password must have at least 12 characters.',
      'API_KEY=YOUR_API_KEY',
      'password: z.string().min(12),',
      'this.password = await hash(password, 12)',
      'password_hash: 9f86d081884c7d659a2f',
      'Your password has been changed.',
    ],
  },
  payment_card: {
    found: [
      '4111 1111 1111 1111',
      '5555-5555-5555-4444',
      '378282246310005',
      'card 3056 930902 5904',
    ],
    passed: ['4111 1111 1111 1112', '1234567890123456', 'ts 1732320000000', '0.4111111111111111'],
  },
  iban: {
    found: ['DE89 3704 0044 0532 0130 00', 'GB29NWBK60161331926819', 'nl91abna0417164300'],
    passed: ['DE88 3704 0044 0532 0130 00', 'DE89 3704', 'XX89370400440532013000'],
  },
  bank_account: {
    found: ['routing number 021000021', 'Kontonummer: 648489890', 'sort code 20-00-00'],
    passed: ['routing table 021000022', 'the account is closed'],
  },
  crypto_wallet_secret: {
    found: [
      'seed phrase: legal winner thank year wave sausage worth useful legal winner thank yellow',
    ],
    passed: [
      'The seed phrase of a wallet has twelve words that nobody else should ever see or keep.',
    ],
  },
  us_ssn: {
    found: ['219-09-9999', 'SSN: 219 09 9999', 'social security number 219099999'],
    passed: ['666-12-3456', '000-12-3456', 'part 219099999', '2026-11-2345'],
  },
  uk_nino: {
    found: ['AB 12 34 56 C', 'NINO: ab123456c'],
    passed: ['GB 12 34 56 C', 'DA 12 34 56 C', 'commit ab123456c0'],
  },
  national_id: {
    found: [
      '123.456.789-09',
      'DNI 12345678Z',
      'CF RSSMRA85T10A562S',
      'BSN 111222333',
      'PESEL 44051401359',
      '756.9217.0769.85',
    ],
    passed: ['123.456.789-00', 'DNI 12345678A', 'BSN 111222334', 'build 44051401359'],
  },
  identity_document: {
    found: ['Passport number: C01X00T47'],
    passed: ['Passport control took 10 minutes'],
  },
  date_of_birth: {
    found: [
      'DOB: 1984-03-12',
      'born on 12 March 1984',
      'Geburtsdatum: 12.03.1984',
      'née le 3 février 1984',
      '生年月日: 1984年3月12日',
      'name,dob\nanna,12/03/1984\n',
    ],
    passed: ['released on 12 March 1984', 'DOB: YYYY-MM-DD', 'born in 1984'],
  },
  record_number: {
    found: [
      'MRN: 4839201',
      'Patient ID P-204817',
      'Kundennummer 8837261',
      '{"patientId": "MR483920"}',
    ],
    passed: ['The patient was seen on 12 May.', 'order 4839201'],
  },
  email_address: {
    found: ['anna.schmidt@gmail.com', 'anna.schmidt (at) gmail (dot) com'],
    passed: [
      'user@example.com',
      'git@github.com:acme/widgets.git',
      'lodash@4.17.21',
      'logo@2x.png',
    ],
  },
  phone_number: {
    found: ['+49 151 2345678', '(415) 555-2671', 'Telefon 0171 2345678'],
    passed: ['555-0100', 'version 415.555.26', '1732320000'],
  },
};

describe('the built-in patterns', () => {
  it('are 26, each with cases here and a name of its own', () => {
    const names = BUILTIN_PATTERNS.map(({ name }) => name);
    expect(names).toHaveLength(26);
    expect(new Set(names)).toEqual(new Set(Object.keys(CASES)));
  });

  it.each(Object.entries(CASES))('%s', (pattern, { found, passed }) => {
    for (const text of found) expect(patternsIn(text), text).toContain(pattern);
    for (const text of passed) expect(patternsIn(text), text).not.toContain(pattern);
  });

  it('can be turned off, and told at another severity', () => {
    const own = createDlpScanner({
      builtin: { us_ssn: { enabled: false }, iban: { severity: 'low' } },
    });
    expect(own.scanText('219-09-9999')).toEqual([]);
    expect(own.scanText('GB29NWBK60161331926819')[0]).toMatchObject({
      pattern: 'iban',
      severity: 'low',
    });
    own.close();
  });

  it("stand beside a tenant's own", () => {
    const custom = [
      { id: '1', name: 'project_code', regex: 'PRJ-\\d{4}', severity: 'high' as const },
    ];
    const own = createDlpScanner({ custom });
    expect(own.scanText(`PRJ-1234 and ${KEY}`).map(({ pattern }) => pattern)).toEqual([
      'project_code',
      'aws_access_key_id',
    ]);
    own.close();
  });

  it('are found behind a hundred harmless candidates', () => {
    expect(patternsIn(`${'token and password. '.repeat(300)} password = "tr0ub4dor&3"`)).toContain(
      'secret_assignment',
    );
  });
});

describe('a JSON value', () => {
  it('is read with its keys: strings, numbers, items', () => {
    const value = {
      a: [{ ssn: 219099999 }, { password: 'correct horse battery staple' }],
      dob: '1984-03-12',
    };
    expect(scanner.scanValue(value)).toEqual([
      { pattern: 'us_ssn', severity: 'critical', place: '/a/0/ssn', length: 9 },
      { pattern: 'secret_assignment', severity: 'high', place: '/a/1/password', length: 28 },
      { pattern: 'date_of_birth', severity: 'medium', place: '/dob', length: 10 },
    ]);
  });

  it('shows a key that is a value, and a value over two fields', () => {
    expect(scanner.scanValue({ [KEY]: true }).map(({ pattern }) => pattern)).toEqual([
      'aws_access_key_id',
    ]);
    const split = scanner.scanValue({ first: KEY.slice(0, 9), second: KEY.slice(9) });
    expect(split).toMatchObject([
      { pattern: 'aws_access_key_id', place: '/first', disguise: ['split'] },
    ]);
  });

  it('shows what a tenant looks for in every key, and never repeats the key', () => {
    const custom = [
      { id: 'x', name: 'staff', regex: '\\bEMP\\d{3}|FALCON', severity: 'high' as const },
    ];
    const own = createDlpScanner({ custom });
    expect(own.scanValue({ EMP123: {}, list: [{ FALCON: [{ ssn: 219099999 }] }] })).toMatchObject([
      { pattern: 'staff', place: '/*' },
      { pattern: 'staff', place: '/list/0/*' },
      { pattern: 'us_ssn', place: '/list/0/*/0/ssn' },
    ]);
    own.close();
  });

  it('shows a value over several keys', () => {
    expect(scanner.scanValue({ [KEY.slice(0, 8)]: 1, [KEY.slice(8)]: 1 })).toMatchObject([
      { pattern: 'aws_access_key_id', place: '/*', disguise: ['split'] },
    ]);
  });

  it('is not found together from different objects, nor from plain words', () => {
    expect(scanner.scanValue([{ a: KEY.slice(0, 9) }, { a: KEY.slice(9) }])).toEqual([]);
    expect(scanner.scanValue({ name: 'Blue lamp', count: 3, tags: ['new', 'sale'] })).toEqual([]);
  });

  it('shows the first findings of each severity, however many others there are', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `ana${i}@corp-mail.net`);
    const found = scanner.scanValue([...many, 'Das Passwort lautet Regen77!', KEY]);
    expect(found.length).toBe(MAX_FINDINGS + 2);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(
      new Set(['low', 'high', 'critical']),
    );
    const text = scanner.scanText(
      `${many.join('\n')}\n&amp; ${Buffer.from(KEY).toString('base64')}`,
    );
    expect(text.at(-1)).toMatchObject({ pattern: 'aws_access_key_id' });
  });

  it('shows a value over two fields that hold lesser ones', () => {
    const value = { one: `ana7@corp-mail.net ${KEY.slice(0, 9)}`, two: KEY.slice(9) };
    expect(scanner.scanValue(value)).toMatchObject([
      { pattern: 'email_address' },
      { pattern: 'aws_access_key_id', disguise: ['split'] },
    ]);
  });
});

describe('an issuer’s mark', () => {
  const KEYS = [
    KEY,
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'glpat-Zb3xQ9mK7vL2pR8tW5nY',
    'xoxb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1',
    'AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'sk-proj-AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8Yz9012AbCdEfGh',
    'npm_d8Fk2LmQ9xZ7vB4nR6tY1wS3pH5jK0aGcEuM',
    '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',
    'AC0123456789abcdef0123456789abcdef',
  ];

  it.each(KEYS)('may stand behind and before a line: %s', (key) => {
    for (const text of [`_${key}_`, `the key_${key} x`, `__${key}__`, `${KEYS[1]}_${key}`]) {
      const at = text.lastIndexOf(key);
      expect(scanner.scanText(text), text).toContainEqual(
        expect.objectContaining({ severity: 'critical', start: at }),
      );
    }
    expect(scanner.redactValue([`_${KEY}_`]).value).toEqual(['_[REDACTED:aws_access_key_id]_']);
  });

  it.each(KEYS.slice(1, 8))('that no word contains may stand in a word: %s', (key) => {
    expect(scanner.scanText(`x${key} y`)).toMatchObject([{ severity: 'critical', start: 1 }]);
  });

  it.each([
    'laughs_andOtherThingsThatPeopleDoAtParties',
    'risk_live_configurationOfEverything',
    'SLOVAKIA0123456789ABCDEF',
    `${'aB3+dE5/gH7jK'.repeat(6)}AIzaSyD9tSrke72PouQMnMXa7eZSW0jkFMBWY`,
    `${'q'.repeat(20)}AIzaSyD9tSrke72PouQMnMXa7eZSW0jkFMBWY${'aB3+dE5/gH7jK'.repeat(6)}`,
  ])('is none in a word or a blob: %s', (text) => expect(scanner.scanText(text)).toEqual([]));
});

describe('a column', () => {
  const row = (cell: string, i: number) =>
    `anna${i},${cell},2024-01-0${1 + (i % 9)},a long comment`;
  const table = (cells: readonly string[]) => `user,ssn,since,note\n${cells.map(row).join('\n')}`;

  it.each(['', 'x', 'null', 'unknown', '-----'])('is read on behind cells with %j', (none) => {
    const text = table([...Array<string>(12).fill(none), '219099999']);
    expect(scanner.scanText(text)).toMatchObject([{ pattern: 'us_ssn' }]);
  });

  const many = Array.from({ length: 150 }, (_, i) => `Zk8${i}!mmv`);

  it.each([
    ['a statement', `INSERT INTO u (n, password) VALUES ${many.map((v) => `('a', '${v}')`)};`],
    ['a table', `Users, as asked:\nname,password\n${many.map((v) => `anna,${v}`).join('\n')}`],
    ['Markdown', `| a | password |\n|---|---|\n${many.map((v) => `| a | ${v} |`).join('\n')}`],
  ])('is redacted to its end in %s', (_, text) => {
    const { value, failed } = scanner.redactValue([text]);
    const isLeft = /Zk8/.test(JSON.stringify(value));
    expect({ failed, isLeft }).toEqual({ failed: false, isLeft: false });
  });
});

describe('redaction', () => {
  it('replaces what was found and nothing else, and leaves the given value alone', () => {
    const value = {
      text: `my ssn is 219-09-9999, thanks`,
      list: ['fine', `k: ${Buffer.from(KEY).toString('base64')}.`],
    };
    const before = structuredClone(value);
    const { value: redacted, failed, redacted: findings } = scanner.redactValue(value);
    expect(redacted).toEqual({
      text: 'my ssn is [REDACTED:us_ssn], thanks',
      list: ['fine', 'k: [REDACTED:aws_access_key_id].'],
    });
    expect(failed).toBe(false);
    expect(findings.map(({ place }) => place)).toEqual(['/text', '/list/1']);
    expect(value).toEqual(before);
    expect(scanner.scanValue(redacted)).toEqual([]);
  });

  it.each([
    ['a number', { ssn: 219099999 }],
    ['a key', { [KEY]: 1 }],
    ['a value over two fields', { a: KEY.slice(0, 9), b: KEY.slice(9) }],
  ])('fails for %s', (_what, value) => {
    expect(scanner.redactValue(value).failed).toBe(true);
  });

  it('fails where the caller keeps the string', () => {
    const { value, failed } = scanner.redactValue({ uri: KEY }, (pointer) => pointer === '/uri');
    expect({ value, failed }).toEqual({ value: { uri: KEY }, failed: true });
  });

  it('fails where more is found than is told', () => {
    const many = Array.from({ length: MAX_FINDINGS * 6 }, (_, i) => `219-09-${1000 + i}`);
    expect(scanner.redactValue(many).failed).toBe(true);
  });
});

describe('a text that would take too long', () => {
  const scanner = createDlpScanner();

  it('is told, not let through', () => {
    const hostile = 'token '.repeat(20_000);
    expect(() => scanner.scanText(hostile)).toThrow(ScanBudgetError);
    expect(() => scanner.scanValue({ a: hostile })).toThrow(ScanBudgetError);
    expect(() => scanner.redactValue([hostile])).toThrow(ScanBudgetError);
  });

  it('is told of the tenant’s own patterns where they find too much', () => {
    const text = 'The meeting notes were sent to the team. '.repeat(300);
    const custom = ['.', '[a-z ]'].map((regex) => {
      return { id: regex, name: `any ${regex}`, regex, severity: 'low' as const };
    });
    const own = createDlpScanner({ custom });
    expect(() => own.scanText(text)).toThrow(PatternBudgetError);
    expect(() => own.scanValue({ a: text })).toThrow(PatternBudgetError);
    expect(() => own.scanText('token '.repeat(20_000))).toThrow(ScanBudgetError);
    own.close();
  });

  it('is no long log, table or list of records', () => {
    const log = Array.from(
      { length: 1_000 },
      (_, i) => `10:00:${i % 60} INFO req=${i * 7919} user=${i} ip=10.0.0.${i % 255} token=missing`,
    );
    expect(scanner.scanText(log.join('\n'))).toEqual([]);
    const records = Array.from({ length: 2_000 }, (_, id) => ({ id, total_tokens: id * 3 }));
    expect(scanner.scanValue(records)).toEqual([]);
  });

  it('may be a table of digests and UUIDs, in which every disguise seems to occur', () => {
    const hex = (n: number, about: string) => hash('sha256', `${about} ${n}`).slice(0, 40);
    const rows = Array.from({ length: 5_000 }, (_, n) => {
      const id = hex(n, 'id').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
      return { id, sha: hex(n, 'sha') };
    });
    // Cards may be among them by chance.
    expect(() => scanner.scanText(JSON.stringify(rows))).not.toThrow();
  });

  it('finds what stands far into a long text, disguised', () => {
    const padding = 'The road works near the main entrance have delayed deliveries. '.repeat(200);
    const hidden = Buffer.from('password: "Tr0ub4dor&3x"').toString('base64');
    const text = `${padding}${hidden} ${padding}`;
    const [found] = scanner.scanText(text);
    expect(found).toMatchObject({ pattern: 'secret_assignment', disguise: ['base64'] });
    expect(found?.start).toBe(padding.length);
  });
});
