/** Codes that open something, communities of SNMP, passwords with words between, and what is in their place. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('codes of alarms, doors and cards', () => {
  it.each([
    'PIN karty płatniczej klienta: 4471, prosił o przypomnienie smsem',
    'PIN de la tarjeta de Ana: 4471',
    'kod do alarmu w sklepie: 7719',
    'Kod do bramy 4471#',
    'Alarmcode vom Laden ist 4471',
    'Türcode: 45B12',
    "code de l'alarme du magasin : 7719",
    'le code du portail est 4471',
    'digicode 45B12',
    'código de la alarma: 7719',
    'o código do portão é 4471',
    'codice del cancello: 4471',
    'alarmcode 4471 winkel',
    'code van het alarm is 4471',
    'larmkod 4471',
    'koden til alarmen er 4471',
    'код от домофона 4471',
    'code for the back door is 4471',
    'safe combination: 12-34-56',
    '현관 비번은 4471',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'PIN code of the area office: 560001',
    'PIN entry fails after attempts: 3',
    'PIN change requests since: 2024',
    'code for the door hinge 12345',
    'error code for the alarm: 4471',
    'Fehlercode der Alarmanlage: 4711',
    'alarm code 12 % of all calls',
    'gate code of conduct 2024',
    'le code de la route 4471 articles',
    'door code review took 1200 ms',
    'building code 2018 edition',
    'building code: 1021.4',
    'safe code 1200 lines reviewed',
    'the codice di porta 8080 is open',
    'código de entrada en vigor 2024',
    'kod do drzwi zmieniamy co 90 dni',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('communities of SNMP', () => {
  it.each([
    'snmp community rw: Kabelsalat7, Switch 10.9.0.3',
    'SNMPv2 community string = Gr4nitRO',
    'SNMP-Community: n3tw0rk-r0',
    'read community: Gr4nit77',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'snmp community: public',
    'the SNMP community name must be set in /etc/snmp/snmpd.conf',
    'our community string quartet plays at 8',
    'read community guidelines: https://x.org/12',
    'Snmp communities are configured in chapter 12.4',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('passwords of what the words between say', () => {
  it.each([
    "Mot de passe du wifi invité de l'agence : Agence-Lyon-2025!  (SSID BNQ-GUEST)",
    'La contraseña nueva de la VPN: Aceituna-Negra-55 (usuario jmolina)',
    "mot de passe provisoire de l'intranet : Mouette-Grise-12",
    'hasło tymczasowe do VPN: Sowa-Biala-55',
    'A nova senha da VPN: Lua-Cheia-77',
    "password dell'ufficio: Gabbiano-22",
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    "mot de passe de l'agence : voir l'annexe 12b",
    'contraseña nueva de la VPN: mínimo 12 caracteres',
    'password policy for the server: min12chars-required',
    'password reset for user: open ticket',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('names and marks in the place of a secret', () => {
  it.each([
    'token=tok_9fK2mQ8xR4vT1zWb for the deploy hook',
    'password: *Tulpe7*Garten*',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'log: charge.failed pan_token=tok_Tth1EVhbZSivOU reason=insufficient_funds merchant=DROGARIA SUL',
    '{"source":"tok_1PqK2eLkdIwHu7ixTthabcde","amount":1200,"token":"tok_1PqK2eLkdIwHu7ixTthabcde"}',
    '<Password><Value>*SENSITIVE*DATA*DELETED*</Value></Password>',
    'password: --REMOVED--',
    'password=###GELÖSCHT###',
    'DD_API_KEY=<datadog-api-key>\nDD_SITE=datadoghq.eu',
    'API_KEY=<my-service-key>\nREGION=eu-west-1',
    'arn:aws:secretsmanager:eu-central-1:210987654321:secret:prod/erp/db-Xk2LpQ',
    '"arn:aws:secretsmanager:us-east-1:123456789012:secret:app/token-Ab3dEf"',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
