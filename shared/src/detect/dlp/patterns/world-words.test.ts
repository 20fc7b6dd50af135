import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('national numbers by their own names', () => {
  it.each([
    'TAJ-szám: 031 718 246',
    'ЖСН 850417300122, Алматы',
    'davčna številka 54123097',
    'Số CCCD: 031085004417',
    'CMND số 273418865',
    'No. Kad Pengenalan: 850417-10-5523',
    'NIK: 3273015704850003 (Bandung)',
    'รหัส ... บัตรประชาชน 1101700230708',
    'رقم الهوية: 1087654321',
    'الرقم القومي 28504172100341',
    'CNIC 35202-1234567-9',
    'cédula 1.032.456.789 de Bogotá',
    'DNI 30.123.456, Rosario',
    'מספר זהות 031718244',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    'TAJ-szám: 031 718 247',
    'Số CCCD gồm 12 chữ số',
    'NIK terdiri dari 16 digit, lihat halaman 12',
    'CNIC renewal fee: 750 rupees since 2024',
    'cédula: formulario 12, página 3',
    'DNI vigente hasta 12.03.2031',
    'IRD number format: eight or nine digits',
    'Malaysia: 1234 5678 tan CO2',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('papers of a person in more languages', () => {
  it.each([
    '旅券番号：TK4417205',
    '운전면허번호: 11-08-441720-33',
    '驾驶证 110101198504170011',
    'legitymuje się dowodem osobistym nr ABA300000',
    'Personalausweis L01X00T47, gültig bis 2031',
    'Reisepass-Nr.: C01X00T47',
    'útlevél száma: BA1234567',
    'osobna iskaznica 113456789',
    'pasaport no U12345678',
    'hộ chiếu B1234567',
    'titre de séjour 9912345678',
    'جواز السفر A12345678',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    '旅券の申請は2番窓口へ',
    'dowód osobisty należy okazać przy wejściu',
    'Personalausweis: VORNAME NACHNAME',
    'útlevél kiadása 20 munkanap',
    'pasaport ücreti 2025 yılında arttı',
    'titre de séjour valable 10 ans',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('records of patients, members and cases in more languages', () => {
  it.each([
    '病案号：43091877',
    '被保険者番号 11240876',
    '환자 등록번호: 69288541',
    'Vorgangsnummer KI-6840123',
    'hasta no: 4471023',
    'číslo pojištěnce 8504170112',
    'номер полиса 7744-1200-3381',
    'mã bệnh nhân: BN1029384',
    'nomor rekam medis 00-44-71-23',
    'رقم المريض 4471023',
    'saksnummer 24/118834',
    'n° de sinistre 2024118834',
  ])('are found: %s', (text) => expect(patterns(text)).not.toEqual([]));

  it.each([
    '病案号由系统生成',
    '会员 3 天内有效',
    'hasta nota alta en 12 pruebas',
    'sakanummer 12',
    'č. 12 v pořadí, číslo smlouvy doplníme',
    'номер дела будет присвоен',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

it('takes a Korean date of birth', () => {
  expect(patterns('생년월일: 1993. 05. 15')).toEqual(['date_of_birth']);
});

it.each([
  '00000010  03 00 3e 00 01 00 00 00  40 10 00 00 00 00 00 00  |..>.....@.......|',
  "sed -E 's/(password|token)=[^& ]+/\\1=x/g' access.log",
])('takes neither bytes nor expressions for a value: %s', (text) => {
  expect(patterns(text)).toEqual([]);
});
