import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('codes that are sent, of cards and of accounts', () => {
  it.each([
    'root:Wisla!2031x (ssh)',
    'sudo password for the box -> Wisla!2031x',
    'Ihr Bestätigungscode lautet 884213',
    'votre code de vérification : 884213',
    'su código de verificación es 884213',
    '您的验证码是884213，5分钟内有效',
    '認証コードは 884213 です',
    'PIN der Karte: 4471',
    'el PIN es 4471',
    '<form><label>Password</label><input value="Wisla!2031x"></form>',
    '<label>Password</label> <input type="text" name="x" value="Wisla!2031x"/>',
    'CVV: 311, exp 12/29',
    'cvc 3117',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'CVC 123 works for any test card',
    'Enter the CVV code on the back',
    'Der Sicherheitscode besteht aus 3 Ziffern',
    'Bestätigungscode 2024-11-29 12:00 gesendet',
    'code de sécurité 2024 du bâtiment',
    '验证码60秒内有效',
    '验证码长度 1000-9999',
    'root:x:0:0:root:/root:/bin/bash',
    'admin:Read#Only',
    'service:Orders.V2',
    'Pin the version to 4471 and rebuild',
    'PIN of the header: see sheet 4',
    'PIN is 560001, Bengaluru',
    'Password for the portal -> see vault',
    '<label>Password</label><input value="">',
    '<label>Password</label><input type="password" placeholder="Password1">',
    'codice di verifica 4.2.1',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
