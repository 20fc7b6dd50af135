/** Labelled values of which the label, the value or both are disguised. */
import { afterAll, describe, expect, it } from 'vitest';
import { rot13 } from '../../rot13.ts';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const turned = (text: string): string => [...text].reverse().join('');
const isFound = (text: string): boolean => scanner.scanText(text).length > 0;

const SECRET = 'Xk9#mQ2vLp8z';
const SECRETS = `kennwort Zugangscode pwd db_pwd passphrase PIN Geheimzahl contraseña clave senha
  wachtwoord hasło lösenord parola store_pass psk puk creds credentials Zugangsdaten otp auth_key
  Schlüssel llave jeton sleutel klucz jwt_key`
  .split(/\s+/)
  .map((label) => `${label}: ${SECRET}`);
const RECORDS = [
  'date of birth: 14/03/1987',
  'born: 1987-03-14',
  'geboren am: 14.03.1987',
  'MRN: 4471982',
  'patient id: PT-88213',
  'Kundennummer: 88213771',
  'passport no: C01X00T47',
  'SSN: 536-22-8814',
  'phone: (415) 555-2671',
  'fax: +44 20 7946 0958',
  'sort code: 20-00-00',
  'routing number: 021000021',
];

describe.each([...SECRETS, ...RECORDS])('%s', (line) => {
  it.each([
    ['reversed', turned],
    ['in rot13', rot13],
    ['in both', (text: string) => turned(rot13(text))],
  ])('is found %s', (_how, form) => {
    expect(isFound(`see ${form(`the ${line} here`)} there`)).toBe(true);
  });
});

it.each([
  ['a reversed label', `trowsseprgnaguz: x, trownnek: ${SECRET}`],
  ['a reversed label of two words', 'yek_ipa: 8xKq2LmP9zTr4W'],
  ['a reversed date', 'DOB: 7891/30/41'],
  ['strings that are concatenated', `const a = "kennwort: Xk9#m" + "Q2vLp8z";`],
  ['strings joined by a dot', `$a = "kennwort: Xk9#m" . "Q2vLp8z";`],
  ['UTF-8 in hex', `contrase\\xc3\\xb1a: ${SECRET}`],
  ['UTF-8 in octal', `contrase\\303\\261a: ${SECRET}`],
  ['quoted-printable', `contrase=C3=B1a: ${SECRET} =20=\n`],
])('%s hides no value', (_what, text) => {
  expect(isFound(text)).toBe(true);
});

it.each([
  ['labels that mean something turned around', 'You can beg, let it be, in esac: 4155552671 ein'],
  [
    'a German preposition and a number',
    'Wir erhöhen den Betrag auf 123456 Euro, auf Seite 88213771',
  ],
  ['a Polish tax number', 'Sprzedawca: Nowak, NIP: 5252248481'],
  ['a name that holds a reversed label', 'retrievalLink = "x8Kq2LmP9z"'],
  ['an address of a turned text', `trowssap is the label, mail jane@example.com`],
  ['an address in a text of rot13', `cnffjbeq is the label, mail jane@example.com`],
  ['concatenated prose', `"Your password must be " + "at least twelve characters long"`],
  ['bytes that are no UTF-8', 'caf\\xe9\\xe8 \\xff\\xfe'],
])('%s is none', (_what, text) => {
  expect(scanner.scanText(text)).toEqual([]);
});
