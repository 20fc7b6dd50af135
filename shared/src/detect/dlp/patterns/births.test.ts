/** Dates of birth by eras, in other calendars and with the months of many languages. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('dates of birth in many languages', () => {
  it.each([
    'I was born on the third of August 1997 in Mekelle',
    'born on the twenty-first of May, 1990',
    'sie ist am dritten August 1997 geboren',
    'né le vingt-deux août 1997',
    'fecha de nacimiento: tres de agosto de 1997',
    'nata il tre agosto 1997',
    'nascido em vinte e um de maio de 1990',
    'geboren op drie augustus 1997',
    '生年月日 昭和38年5月14日 性別 女 既往歴 高血圧',
    '生年月日：S38.5.14',
    '生年月日 平成元年3月2日',
    '誕生日は平成 5 年 3 月 2 日です',
    '出生日期 民國72年5月14日',
    '출생일: 1984년 2월 11일, 환자 이지은, 알레르기: 페니실린',
    '생일 1984년 2월 11일',
    '생년월일 1984 년 2 월 11 일',
    'дата рождения: 14 мая 1983 г.',
    'родилась 3 сентября 1979 года',
    'народився 14 травня 1983',
    'ημερομηνία γέννησης 14 Μαΐου 1983',
    'γεννήθηκε 3 Σεπτεμβρίου 1979',
    'วันเกิด 14 พฤษภาคม 2526',
    'วันเกิด 14/05/2526',
    'ngày sinh 14 tháng 5 năm 1983',
    'doğum tarihi 14 Mayıs 1983',
    'született 1983. május 14.',
    'syntynyt 14. toukokuuta 1983',
    'născut la 14 septembrie 1983',
    'جन्म تاريخ الميلاد 14 مايو 1983',
    'जन्मतिथि 14 मई 1983',
    'תאריך לידה 14 במאי 1983',
    'תאריך לידה 14 מאי 1983',
    'tanggal lahir 14 Agustus 1983',
    'rođen 14. svibnja 1983',
    'passenger,dob,seat\nIWASAKI/REN MR,11JAN1994,32K',
    'DOB: 11JAN1994',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('date_of_birth'));

  it.each([
    '生日派对 2024年5月1日',
    '생일 파티는 2024년 5월 1일',
    '昭和38年5月14日に開業しました',
    '令和6年4月1日施行',
    '出生率 2023年は1.20',
    '출생률 2023 통계',
    'мы родом из 1983',
    'дата: 14 мая 2024 г., заседание',
    'doğum izni 2024 yılında 16 hafta',
    'S38.5.14 firmware for the pump',
    'วันที่ 14 พฤษภาคม 2567 ประชุม',
    'born to run, released 25 August 1975',
    'Rođen je novi proizvod',
    'мэрия открыла парк 3 сентября 2019',
    'lahir di Bandung, sekolah 2019',
    'Eeuwen geleden geboren idee',
    'flight,date,seat\nLH441,11JAN2024,32K',
    'DOB 11ABC1994',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
