/** Private keys on command lines, as JSON and encrypted, and passwords that a variable holds. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('private keys', () => {
  it.each([
    'wg set wg0 private-key <(echo sCgCDCY+CEs/KeA9mwvfrIDpG1hBd0NxWcv6hLf630k=) peer fR0YlTdEH1aXYjb73p0t+KAbFJibqoubgtHZ+OpGsi2= allowed-ips 10.9.0.2/32',
    'echo sCgCDCY+CEs/KeA9mwvfrIDpG1hBd0NxWcv6hLf630k= | wg pubkey',
    'oct key for HMAC: {"kty":"oct","k":"-ZwAey7YKvUk1LOcMbXMboEkD49M2z0oniinLa3qfIreovDYDE1Pkbn2BYptZL3DI7pQ6AKtKWKz9S0NY7b4cY","alg":"HS512"}',
    '{"alg":"A256KW","k":"GawgguFyGrWKav7AX4VKUgq1b7Zk","kty":"oct"}',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "dsa-2048-vms7 of the old box"\nC/Xu4Dr0brwY++PcDcvkw3mkUzZ2ccZM9Swgs1ZXhVvYII3pkZJB49hU4dabyxzucOGhZA\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('private_key'));

  it.each([
    'wg set wg0 private-key /etc/wireguard/key peer fR0YlTdEH1aXYjb73p0t+KAbFJibqoubgtHZ+OpGsi2= allowed-ips 10.9.0.2/32',
    '{"kty":"oct","k":"<base64url>"}',
    '{"k":"abcdefghijklmnopqrstuvwxyz","v":1}',
    'the file begins with ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ---- and a comment line follows',
    'look for -----BEGIN RSA PRIVATE KEY----- in the logs and report it',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('passwords that a variable holds', () => {
  it.each([
    'VBScript: p = Chr(76) & Chr(97) & Chr(99) & Chr(104) & Chr(115) & Chr(57) & Chr(52) & Chr(50) & Chr(55) & Chr(35) : conn.Open dsn, "sa", p',
    'x = "Lachs94#27"\nsmtp.login("ana", x)',
    'q := "Lachs9427"\ncfg := Config{User: "sa", Password: q}',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'host = "Server01"\nconn.connect(user, host)',
    'p = "page%20two"\nopen file, mode, p',
    'mail = "Ana+x@acme"\nlogin(form, name)',
    'password = prompt("x")\np = "Lachs"\npassword: p',
    'name = "Form01 Login"\n<input password=name>',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
