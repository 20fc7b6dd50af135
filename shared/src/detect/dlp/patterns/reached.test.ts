/** Telephone numbers as people pass them on, and what only has the form of a number or address. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('telephone numbers beside verbs and words of many languages', () => {
  it.each([
    'Call Mrs Whitcombe back on 07911 698727 after 5pm, she wants to cancel the boiler visit.',
    'call Mrs Okafor on 07848 177049 about the biopsy slot',
    "please ring Dr. O'Neill at 07700 812233 before noon",
    'Bel mevrouw Jansen op 06-28841733',
    'Ruf bitte Herrn Maier unter 0171 8827364 an',
    'meine Nummer ist 0152 82614519.',
    'Meine neue Handynummer: 0152 82614519',
    "mon numéro c'est le 06 12 48 77 31",
    'mijn nummer is 06 28841733',
    'mój numer to 0048 601 228 331',
    'Natel 079 498 47 55, Frau Zgraggen, ab 17 Uhr',
    'Festnetz 089 4471 2288',
    'κινητό 6947481368 κα Νικολάου',
    'τηλ. 210 6471882',
    'моб. 8 916 447 22 81',
    'мобильный: 8 (916) 447-22-81',
    'رقم الجوال 0551234817',
    'נייד 052-4471828',
    'मोबाइल 98765 44128',
    'เบอร์โทร 081-447-2281',
    'sđt 0903 447 228',
    'nomor HP 0812-4471-2288',
    '座机 010-84471228',
    '휴대전화 010-4471-2288',
    'cep tel 0532 447 12 28',
    'Rev. J. Hale, (512) 550-2204',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('phone_number'));

  it.each([
    'Durchwahl-Konzept: Nummernkreis 4000–4999 für Station, 5000–5999 für Verwaltung.',
    'Telefonanlage: Nebenstellen 1000-1999 frei',
    'tel extensions 2000 – 2999 belong to sales',
    'Call the clinic about order 07848177 today',
    'call function foo on 2024-05-14 12:00',
    'Meine Nummer in der Schlange war 1234567',
    'mon numéro de commande est 0612345678',
    'mi número de pedido 0034455667',
    'meine Auftragsnummer ist 0152826145',
    'mijn nummer in de rij was 27',
    'σταθερό επιτόκιο 3,25 % έως 2031',
    'Natel war bis 2008 eine Marke der Swisscom',
    'das Festnetz wird 2026 abgeschaltet',
    'text the word STOP to 80085 to unsubscribe',
    'reach the summit at 0400 hours, then turn at 0600',
    'contact the vendor on 2025-03-14 about part 07848-177',
    'phone the office at 9 on Monday',
    'mobilní aplikace verze 4.12.3, build 20250314',
    'הנייד החדש עולה 3499 שקל',
    'Part (512) 550-2204 rev C replaces (512) 550-2203; torque 14 Nm.',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('addresses of nobody', () => {
  it.each([
    'max.berger@example.org',
    'max.mustermann@webstar.de',
    'contact damien.miller@openssh.com for it',
    'write to priya.r at fernwerk dot io',
    'From: jane.roe42@acme.io\nMessage-ID: <x1@y.acme.io>',
    'Message-ID: <x1@y.acme.io>\nTo: priya.r77@acme.io',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('email_address'));

  it.each([
    'mailto max.mustermann@example.org',
    'mail to: max.mustermann@example.org (Muster)',
    'erika.mustermann@example.com',
    'ola.nordmann@example.no',
    'KexAlgorithms curve25519-sha256,sntrup761x25519-sha512@openssh.com',
    'Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com',
    'MACs umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com',
    'aes128-cbc@lysator.liu.se',
    'Message-Id: <20250321186463.92fd3099ba84548e@mail.example.org>',
    'Message-ID: <CAF8kX1b2c3d4e5f6@mail.gmail.com>',
    'References: <a1b2@x.acme.io> <CAF8kX1b2c3d4@mail.gmail.com>',
    '<img src="cid:image001.png@01D9A4C2.7F1B2C30">',
    'Meet at the dot on the map; the at-sign in the sketch marks the spring.',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
