import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));
const SEALED = 'AgBy3i4OJSWK+PiTySYZZA9rO43cGDEqx0o3Kf7QOJ5q1Ok3m0Yb7VtZ1cRwz8uS2xE4hD6gB9aN';
const OTHER = 'x3n0Ri6kHnGZ4JbIpn5k8jQq6TnOIJ2n8fT0ZQp3Kf7QOJ5q1Ok3m0Yb7VtZ1cRw';

describe('samples of forms and schemas', () => {
  it.each([
    '<input name="ssn" placeholder="123-45-6789" pattern="\\d{3}-\\d{2}-\\d{4}">',
    '<label>SSN</label><input type="text" name="ssn" placeholder="078-05-1120" maxlength="11">',
    '<input name="dob" placeholder="01/31/1990" required>',
    'ssn: {type: string, example: "123-45-6789"}',
    '{"ssn": {"type": "string", "example": "123-45-6789"}}',
    '<input name="card_number" placeholder="4111 1111 1111 1111">',
    '<input name="iban" placeholder="e.g. DE89 3704 0044 0532 0130 00">',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));

  it.each([
    ['<input name="ssn" placeholder="219-09-9998">', '219-09-9998'],
    ['<input name="ssn" value="123-45-6789">', '123-45-6789'],
    ['<input name="dob" value="01/31/1990">', '01/31/1990'],
    ['ssn: 123-45-6789', '123-45-6789'],
    ['iban: DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 00'],
  ])('hide nothing else: %s', (text, value) => expect(found(text)).toContain(value));
});

describe('descriptions of a key', () => {
  it.each([
    'A classic GitHub token starts with ghp_ followed by 36 characters; fine-grained ones start with github_pat_. (rev 88)',
    'Stripe keys begin with sk_live_ and 24 characters; AWS key ids start with AKIA then 16 upper-case characters. (rev 12)',
    'GitLab tokens have the prefix glpat- followed by 20 characters. (note 41)',
    'Ein Token beginnt mit ghp_ gefolgt von 36 Zeichen, bei Stripe mit sk_live_ und 24 Zeichen (Stand 2024).',
    'An npm token has npm_ and 36 letters (build 77).',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));

  it('hide no key in groups', () => {
    expect(found('use AKIA Q7MZ 3HTX W5RB NC2V')).not.toEqual([]);
    expect(found('ghp_ 16C7e42F 292c6912 E7710c83 8347Ae17 8B4a')).not.toEqual([]);
  });
});

describe('ciphertext of Kubernetes', () => {
  it.each([
    `kind: SealedSecret\nspec:\n  encryptedData:\n    password: ${SEALED}\n    api_key: ${SEALED}`,
    `{"kind":"SealedSecret","spec":{"encryptedData":{"password":"${SEALED}"}}}`,
    `encryptedData:\n  db_password: ${OTHER}`,
    'db_password: ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=,type:str]',
    'password: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQIBADAFMAACAQEwDQYJ]',
  ])('is no finding: %s', (text) => expect(found(text)).toEqual([]));

  it('is no finding as JSON', () => {
    const sealed = { kind: 'SealedSecret', spec: { encryptedData: { password: SEALED } } };
    expect(scanner.scanValue(sealed)).toEqual([]);
    expect(scanner.scanValue({ spec: sealed.spec, kind: sealed.kind })).toEqual([]);
  });

  it('hides no password beside or below it', () => {
    const encoded = Buffer.from('the admin password: Tr4vel!Nine9, change it').toString('base64');
    expect(found(`encryptedData:\n  note: ${encoded}`)).not.toEqual([]);
    expect(found('kind: SealedSecret\npassword: Tr4vel!Nine9')).toEqual(['Tr4vel!Nine9']);
    expect(found(`encryptedData:\n  a: ${SEALED}\ndata:\n  password: ${OTHER}`)).toEqual([OTHER]);
  });
});
