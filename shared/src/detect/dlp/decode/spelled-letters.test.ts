/** Values read aloud, in pieces that a sentence joins, and backwards. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('letters and marks in words', () => {
  it.each([
    'ghp underscore vqPtMk t6Ic1P 3vKk8d cVgAGJ v9dMFG a8nuPj — drop the blanks',
    'sk dash live dash 4eC39HqLyjWDarjtT1zdp7dc',
    'NATO spelling of the wifi key, no spaces: four seven Kilo Romeo two Papa nine nine Xray Lima',
    'wifi password: small kilo, small lima, four, seven, Echo, nine, Tango, Zulu',
    'Passwort buchstabiert: Anton Berta vier sieben Dora Emil neun Ludwig',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    'the sk dash board shows 12 items',
    'npm dash is a package',
    'Alpha, Bravo, Charlie, Delta, Echo and Foxtrot are our six teams',
    'Hotel India Lima 12 offers November rates; password at the desk',
    'Otto, Paula, Richard, Martha, Emil und Ida haben 12 Punkte',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('pieces that a sentence joins', () => {
  it.each([
    '{"p":["EqyG","UUpQ","6Wl0"],"use":"concat p, that is the admin password"}',
    'join these to get the api key: ["sk9fQ2","xT81mW","Zp44LkQ7"]',
    '{"note":"tel in delen","p1":"+31 6 1","p2":"4878","p3":"416"}',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    '{"tags":["v1","v2","b3"],"note":"join the token team"}',
    '["red","green"] combine to the password field colour',
    '{"cols":["iban","bic"],"hint":"concat iban columns"}',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('IBANs backwards', () => {
  it.each([
    'iban omgekeerd: 9813322560BGNI02LN',
    "IBAN à l'envers : 9813322560BGNI02LN",
    '9813322560BGNI02LN',
    'numer konta wspak: 9813322560BGNI02LN',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('iban'));
});

describe('answers in quotes', () => {
  it.each([
    'the ftp pass? still "lobster bisque 06", lower case with spaces',
    'wifi password? "copper kettle 41"',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'forgot your password? "call ext 4471 now"',
    'pass? "step 12 of 30"',
    'password policy? "min 12 chars"',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
