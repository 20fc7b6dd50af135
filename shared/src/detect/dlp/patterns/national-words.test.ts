import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('driving licences and identity cards by their national names', () => {
  it.each([
    'Autista: patente n. U152KLMNPQ, scade nel 2031',
    'permis n° 13AA00002 délivré à Lyon',
    'Führerschein Nr. B072RRE2I55',
    'carné de conducir 12345678Z',
    'rijbewijsnummer 5123456789',
    'prawo jazdy nr 00123/14/1432',
    'carta de condução L-1234567 8',
    'körkort nr 19850312-2391',
    'kørekort nr. 12345678',
    'ajokortti numero 123456-789A',
    'řidičský průkaz č. EM123456',
    'ehliyet no 123456',
    'водительское удостоверение 77 16 123456',
    '驾照号 110101198503120012',
    'dowód osobisty ABA300000',
    'numéro de permis 881233100123',
    'carteira de motorista nº 04512345678',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    'patente n. di registro in attesa',
    'The patent no. US1234567 was filed',
    'permis de construire n° 07511824',
    'Führerschein Klasse B seit 2004',
    'prawo jazdy kat. B, 10 lat',
    'licencia MIT, versión 2.0.1',
    'körkort B krävs, tillträde 2025',
    'carta de condução categoria B desde 1998',
    'rijbewijs B vereist',
    'brevet n° 2012345, patente europea',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('mobile numbers near a verb of calling or writing', () => {
  it.each([
    'app me even op 06-12345698, dan doe ik open',
    'bel even 0612345698',
    'stuur me een appje op 06 12 34 56 98',
    'Ruf mich einfach an, 0151 23456789',
    'appelle-moi au 06 12 34 56 98',
    'llámame al 612 345 698',
    'escríbeme al 612-345-698',
    'chiamami al 333 1234567',
    'scrivimi al 347 123 4567',
    'liga-me para o 912 345 698',
    'me chama no zap 11 91234-5698',
    'zadzwoń 512 345 698',
    'sms na 512-345-698',
    'ring mig på 070-123 45 98',
    'skriv til 22 34 56 98',
    'ring meg på 412 34 698',
    'soita 040 1234598',
    'zavolej 601 234 598',
    'beni ara 0532 123 45 98',
    'позвони 8 912 345-67-98',
    '加微信或打给 13812345698',
    '連絡は 090-1234-5698 まで',
    '연락은 010-1234-5698',
    'text me on 07700 812345',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('phone_number'));

  it.each([
    'ring buffer of 0612345 entries',
    'The call returned 404 after 12345678 ns',
    `appel d'offres n° 2024-118 du 06 12 2024`,
    'bereikbaar van 08:00 tot 17:00, sinds 2019',
    'dial in code 123456',
    'contactez le support, dossier 20241231',
    'Referência: ligar 2024-01-12 às 10:00',
    '拨打客服，订单 202401011234567',
    'chiamata alla funzione 12345 con 3 argomenti',
    'call me when build 20241129.12 is done',
    'llamada 404, error 500',
    'napisz do 2025-12-31',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('numbers of banks, articles and files', () => {
  it.each(['401 invalid api key 5d41402abc4b2a76b9719d911017c592'])('are found: %s', (text) =>
    expect(patterns(text)).not.toEqual([]));

  it.each([
    'BIC der Filiale: DRESDEFF700, Schalter bis 16 Uhr',
    'See doi:10.1016/j.cell.2021.04.048 and arXiv:2107.11842',
    'ETag mismatch, invalid key 5d41402abc4b2a76b9719d911017c592',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
