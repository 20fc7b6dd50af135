/** Numbers under which authorities, insurers and employers file people, and those of firms and orders. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('numbers of records', () => {
  it.each([
    "n° d'adhérent mutuelle 044468364 pour Mme Rousseau, remboursement optique en attente",
    'N° d’allocataire : 4471228',
    "n° d'écrou 448127",
    'Carteirinha Unimed nº 0 829 866249033234 6, beneficiária Lívia Rocha',
    'carteirinha: 0082 4471 2281',
    'Nr historii choroby: 2024/707242, pacjent przyjęty na oddział wewnętrzny, rozpoznanie I10.',
    'matrícula de empleado 004755: baja médica de Óscar Prieto desde el lunes',
    'matrícula do funcionário 448127',
    'inmate/offender number A6826PH, transfer to HMP scheduled Tuesday',
    'prisoner no. A4471XZ',
    'Häftlingsnummer 4471/22',
    'Sozialamt, BG-Nummer 33102//0003952, Bescheid vom 2. Mai, Widerspruch von Herrn Yıldız',
    'Kindergeldnummer 115FK448127',
    'polis nr NL-ZK-07247282, verzekerde mevr. Bakker, eigen risico verbruikt',
    'nº de alumno 448127',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('record_number'));

  it.each([
    'Steuernummer des Finanzamts folgt; Aktenzeichen S 2334 – 14/25 – StO 211',
    'Aktenzeichen folgt',
    'carteirinha do clube custa 15000 reais por ano',
    'a carteirinha vence em 12/2026',
    'polis nr invullen op het formulier',
    'matrícula de coche 4471 KLM',
    'la matrícula del curso cuesta 12000 pesos',
    "n° d'ordre 44712",
    'Bedarfsgemeinschaft mit vier Personen, Regelbedarf 2025',
    'prison number one in the country, built 1904',
    'offender id field is required',
    'Wohngeld: 14000 Haushalte',
    'batch 9490642369751166 counted',
    'историй болезни за год: 12000',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('accounts, and the published numbers of banks and firms', () => {
  it.each([
    'BLZ 37040044, Konto 532013000',
    'Kto. 532013000 BLZ 37040044',
    'BLZ 37040044 / 0532013000',
    'Kontonummer 0648489890, BLZ 50010517',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('bank_account'));

  it.each([
    'BLZ 44050199 gehört zur Sparkasse Dortmund',
    'Bankleitzahl: 500 105 17 (ING)',
    'Organisationsnummer 556036-0793, bankgiro 5050-1055, OCR 2144332692',
    'Bankgiro 991-2346, OCR 291276748066, förfallodag fredag',
    'kto zapłacił 1200 zł za fakturę 448127',
    'Kto to jest? 1234567',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('persons, and orders of the same form', () => {
  it.each(['personnummer 19811228-9874', '811228-9874 är född i Lund'])('are found: %s', (text) =>
    expect(patterns(text)).toContain('national_id'));

  it.each([
    'رقم الطلب 20250318-4471، المبلغ 250 ريال',
    'order 20250318-4471 shipped',
    'Bestellung Nr. 20250318-4471',
    'заказ № 20250318-4471',
    'ordnance: 850417-2384',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('cards that are only taken in Korea', () => {
  it.each(['카드번호 9490-6423-6975-1166 승인취소 요청합니다'])('are found: %s', (text) =>
    expect(patterns(text)).toContain('payment_card'));
});
