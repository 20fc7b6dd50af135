import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('values that a notation puts together', () => {
  it.each([
    ['api_token: >-\n  9f8e7d6c5b4a\n  39281706abcd\nnext: 1', ['9f8e7d6c5b4a\n  39281706abcd']],
    ['password: >\n  kT9vQ2mLx8RzP4w\n', ['kT9vQ2mLx8RzP4w']],
    ['a:\n  client_secret: |\n    kT9vQ2mLx8RzP4w\n  b: 1', ['kT9vQ2mLx8RzP4w']],
    [`p1=kT9vQ2; p2=mLx8Rz; export PGPASSWORD="\${p1}\${p2}"`, ['kT9vQ2', 'mLx8Rz']],
    ['A="9f8e7d6c5b4a"\nB="39281706abcd"\nAPI_TOKEN=$A$B', ['9f8e7d6c5b4a', '39281706abcd']],
    ['{"email_local": "jhofmann", "email_domain": "wp.pl"}', ['jhofmann', 'wp.pl']],
  ])('are found: %s', (text, values) => expect(found(text)).toEqual(values));

  it('an address in two fields is found in a value', () => {
    expect(scanner.scanValue({ email_local: 'jhofmann', email_domain: 'wp.pl' })).toMatchObject([
      { place: '/email_local' },
      { place: '/email_domain' },
    ]);
  });

  it.each([
    'password: >-\n  The one from the vault,\n  see room 3B\n',
    'token: |\n  Rotated on 2024-05-01\n',
    `password: >-\n  \${DB_PASSWORD_2}\n`,
    `host=db1; port=5432; DB_KEY="\${host}\${port}"`,
    `PGPASSWORD="\${p1}\${p2}"`,
    '{"email_user": "support", "email_domain": "wp.pl"}',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));
});

describe('a password behind an adverb', () => {
  it.each([
    'Das Passwort lautet übrigens kT9vQ2mL',
    'the password is by the way kT9vQ2mL.',
    'The password is, by the way, kT9vQ2mL',
    "le mot de passe est d'ailleurs kT9vQ2mL",
    'La contraseña es por cierto kT9vQ2mL',
    'la password è tra l’altro kT9vQ2mL',
    'A senha é por sinal kT9vQ2mL',
    'Het wachtwoord is voortaan kT9vQ2mL',
    'Hasło to obecnie kT9vQ2mL',
    'Lösenordet är numera kT9vQ2mL',
    'Heslo je nyní kT9vQ2mL',
  ])('%s', (text) => expect(found(text)).toEqual(['kT9vQ2mL']));

  it.each([
    'The password is by the way wrong',
    'Das Passwort ist übrigens abgelaufen',
  ])('is not found in %s', (text) => expect(found(text)).toEqual([]));
});

describe('every row below a label', () => {
  it.each([
    ['| date_of_birth |\n|---|\n| 1984-03-12 |\n| 1985-04-13 |', ['1984-03-12', '1985-04-13']],
    ['name,ssn\na,219099998\nb,219099997\nc,219099996', ['219099998', '219099997', '219099996']],
  ])('%s', (text, values) => expect(found(text)).toEqual(values));
});
