import { describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('words between a label and its value', () => {
  it.each([
    'The password for the lab printer is Kestrel!nine27',
    'The password for the printer in room 3.12 is Kestrel!nine27.',
    'Das Kennwort für den Drucker im 3. Stock lautet Kestrel!nine27 (bitte merken).',
    "Le mot de passe pour l'imprimante du 2. étage est Kestrel!nine27",
    'La contraseña para la impresora del 2. piso es Kestrel!nine27',
    'Hasło do drukarki na 2. piętrze to Kestrel!nine27',
  ])('may have numbers with full stops: %s', (text) => {
    expect(found(text)).toEqual(['Kestrel!nine27']);
  });

  it.each([
    'The passphrase for the laptop in room 3.12: velvet canyon thimble rocket',
    'Die Passphrase für das Notebook von Platz 4.2: velvet canyon thimble rocket',
    'Mot de passe pour le NAS : velvet canyon thimble rocket',
  ])('stand before several words: %s', (text) => {
    expect(found(text)).toEqual(['velvet canyon thimble rocket']);
  });

  it.each([
    'The password policy of version 2. It is described in Chapter7!',
    'Passwords for version 3.12: see the manual for details',
  ])('are not always followed by one: %s', (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe('Medicare Beneficiary Identifiers', () => {
  it.each([
    ['MBI: 7KX2-WH9-QD41', '7KX2-WH9-QD41'],
    ['{"mbi": "7kx2wh9qd41"}', '7kx2wh9qd41'],
    ['Medicare Beneficiary Identifier (MBI): 7KX2 WH9 QD41', '7KX2 WH9 QD41'],
  ])('are found beside a word for them: %s', (text, value) => {
    expect(found(text)).toEqual([value]);
  });

  it.each([
    'part 7KX2-WH9-QD41',
    'MBI: 7KS2-WH9-QD4A',
    'Medicare part B covers 80 %',
  ])('are nothing else: %s', (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe('insurance numbers of Germany', () => {
  it.each([
    ['sv_nummer = "15 070649 C 103"', '15 070649 C 103'],
    ['Sozialversicherungsnummer: 15070649C103', '15070649C103'],
    ['sv_nummer = "MTUgMDcwNjQ5IEMgMTAz"', 'MTUgMDcwNjQ5IEMgMTAz'],
  ])('are found by their check digit, in base64, too: %s', (text, value) => {
    expect(found(text)).toEqual([value]);
  });

  it('are nothing else', () => {
    expect(found('sv_nummer = "15 070649 C 104"')).toEqual([]);
    expect(found('lot 15 070649 C 103')).toEqual([]);
  });
});
