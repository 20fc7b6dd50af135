/** Passwords that one call for each character puts together, in the languages of programs and sheets. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

describe('calls for each character', () => {
  it.each([
    'password = Chr(76) & Chr(97) & Chr(99) & Chr(104) & Chr(115) & Chr(57) & Chr(52) & Chr(50) & Chr(55) & Chr(35) & Chr(120)',
    'password = Chr$(76) & Chr$(97) & Chr$(99) & Chr$(104) & Chr$(115) & Chr$(57) & Chr$(52) & Chr$(50) & Chr$(55) & Chr$(35) & Chr$(120)',
    'password = ChrW(76) & ChrW(97) & ChrW(99) & ChrW(104) & ChrW(115) & ChrW(57) & ChrW(52) & ChrW(50) & ChrW(55) & ChrW(35) & ChrW(120)',
    'password = Chr(&H4C) & Chr(&H61) & Chr(&H63) & Chr(&H68) & Chr(&H73) & Chr(&H39) & Chr(&H34) & Chr(&H32) & Chr(&H37) & Chr(&H23) & Chr(&H78)',
    'password = Chr(76) & _\n  Chr(97) & _\n  Chr(99) & _\n  Chr(104) & _\n  Chr(115) & _\n  Chr(57) & _\n  Chr(52) & _\n  Chr(50) & _\n  Chr(55) & _\n  Chr(35) & _\n  Chr(120)',
    'password = chr(76).chr(97).chr(99).chr(104).chr(115).chr(57).chr(52).chr(50).chr(55).chr(35).chr(120)',
    'password = chr(0x4c).chr(0x61).chr(0x63).chr(0x68).chr(0x73).chr(0x39).chr(0x34).chr(0x32).chr(0x37).chr(0x23).chr(0x78)',
    'password = CHR(76)||CHR(97)||CHR(99)||CHR(104)||CHR(115)||CHR(57)||CHR(52)||CHR(50)||CHR(55)||CHR(35)||CHR(120)',
    'password = CHAR(76)+CHAR(97)+CHAR(99)+CHAR(104)+CHAR(115)+CHAR(57)+CHAR(52)+CHAR(50)+CHAR(55)+CHAR(35)+CHAR(120)',
    'password = NCHAR(76)+NCHAR(97)+NCHAR(99)+NCHAR(104)+NCHAR(115)+NCHAR(57)+NCHAR(52)+NCHAR(50)+NCHAR(55)+NCHAR(35)+NCHAR(120)',
    'password = ZEICHEN(76)&ZEICHEN(97)&ZEICHEN(99)&ZEICHEN(104)&ZEICHEN(115)&ZEICHEN(57)&ZEICHEN(52)&ZEICHEN(50)&ZEICHEN(55)&ZEICHEN(35)&ZEICHEN(120)',
    'password = CAR(76)&CAR(97)&CAR(99)&CAR(104)&CAR(115)&CAR(57)&CAR(52)&CAR(50)&CAR(55)&CAR(35)&CAR(120)',
    'password = CARACTER(76)&CARACTER(97)&CARACTER(99)&CARACTER(104)&CARACTER(115)&CARACTER(57)&CARACTER(52)&CARACTER(50)&CARACTER(55)&CARACTER(35)&CARACTER(120)',
    'password = TEKEN(76)&TEKEN(97)&TEKEN(99)&TEKEN(104)&TEKEN(115)&TEKEN(57)&TEKEN(52)&TEKEN(50)&TEKEN(55)&TEKEN(35)&TEKEN(120)',
    'password = ZNAK(76)&ZNAK(97)&ZNAK(99)&ZNAK(104)&ZNAK(115)&ZNAK(57)&ZNAK(52)&ZNAK(50)&ZNAK(55)&ZNAK(35)&ZNAK(120)',
    'password = CODICE.CARATT(76)&CODICE.CARATT(97)&CODICE.CARATT(99)&CODICE.CARATT(104)&CODICE.CARATT(115)&CODICE.CARATT(57)&CODICE.CARATT(52)&CODICE.CARATT(50)&CODICE.CARATT(55)&CODICE.CARATT(35)&CODICE.CARATT(120)',
    'password = UNICHAR(76)&UNICHAR(97)&UNICHAR(99)&UNICHAR(104)&UNICHAR(115)&UNICHAR(57)&UNICHAR(52)&UNICHAR(50)&UNICHAR(55)&UNICHAR(35)&UNICHAR(120)',
    'password = string.char(76,97,99,104,115,57,52,50,55,35,120)',
    'password = #76#97#99#104#115#57#52#50#55#35#120',
    'password = 76.chr + 97.chr + 99.chr + 104.chr + 115.chr + 57.chr + 52.chr + 50.chr + 55.chr + 35.chr + 120.chr',
    'password = 76.toChar() + 97.toChar() + 99.toChar() + 104.toChar() + 115.toChar() + 57.toChar() + 52.toChar() + 50.toChar() + 55.toChar() + 35.toChar() + 120.toChar()',
    'password = string(rune(76)) + string(rune(97)) + string(rune(99)) + string(rune(104)) + string(rune(115)) + string(rune(57)) + string(rune(52)) + string(rune(50)) + string(rune(55)) + string(rune(35)) + string(rune(120))',
    'password = (char)76 + (char)97 + (char)99 + (char)104 + (char)115 + (char)57 + (char)52 + (char)50 + (char)55 + (char)35 + (char)120',
    'password = (char)0x4c + (char)0x61 + (char)0x63 + (char)0x68 + (char)0x73 + (char)0x39 + (char)0x34 + (char)0x32 + (char)0x37 + (char)0x23 + (char)0x78',
    'password = [char]76+[char]97+[char]99+[char]104+[char]115+[char]57+[char]52+[char]50+[char]55+[char]35+[char]120',
    'password = String(UnicodeScalar(76))+String(UnicodeScalar(97))+String(UnicodeScalar(99))+String(UnicodeScalar(104))+String(UnicodeScalar(115))+String(UnicodeScalar(57))+String(UnicodeScalar(52))+String(UnicodeScalar(50))+String(UnicodeScalar(55))+String(UnicodeScalar(35))+String(UnicodeScalar(120))',
    'password = 76.toChar + 97.toChar + 99.toChar + 104.toChar + 115.toChar + 57.toChar + 52.toChar + 50.toChar + 55.toChar + 35.toChar + 120.toChar',
    'password = Character.toString(76) + Character.toString(97) + Character.toString(99) + Character.toString(104) + Character.toString(115) + Character.toString(57) + Character.toString(52) + Character.toString(50) + Character.toString(55) + Character.toString(35) + Character.toString(120)',
    'password = <<76,97,99,104,115,57,52,50,55,35,120>>',
    'password = intToUtf8(c(76L,97L,99L,104L,115L,57L,52L,50L,55L,35L,120L))',
    'password = 76u8, 97u8, 99u8, 104u8, 115u8, 57u8, 52u8, 50u8, 55u8, 35u8, 120u8',
    'password = d2c(76) || d2c(97) || d2c(99) || d2c(104) || d2c(115) || d2c(57) || d2c(52) || d2c(50) || d2c(55) || d2c(35) || d2c(120)',
    "password = X2C('4C')||X2C('61')||X2C('63')||X2C('68')||X2C('73')||X2C('39')||X2C('34')||X2C('32')||X2C('37')||X2C('23')||X2C('78')",
    'password = sprintf("%c%c%c%c%c%c%c%c%c%c%c",76,97,99,104,115,57,52,50,55,35,120)',
    'password = _xlfn.UNICHAR(76)&_xlfn.UNICHAR(97)&_xlfn.UNICHAR(99)&_xlfn.UNICHAR(104)&_xlfn.UNICHAR(115)&_xlfn.UNICHAR(57)&_xlfn.UNICHAR(52)&_xlfn.UNICHAR(50)&_xlfn.UNICHAR(55)&_xlfn.UNICHAR(35)&_xlfn.UNICHAR(120)',
    'password = (apply str (map char [76 97 99 104 115 57 52 50 55 35 120]))',
    "password = $'\\114\\141\\143\\150\\163\\071\\064\\062\\067\\043\\170'",
    'password = Chr( 76 ) & Chr( 97 ) & Chr( 99 ) & Chr( 104 ) & Chr( 115 ) & Chr( 57 ) & Chr( 52 ) & Chr( 50 ) & Chr( 55 ) & Chr( 35 ) & Chr( 120 )',
    'password = ascii(76)+ascii(97)+ascii(99)+ascii(104)+ascii(115)+ascii(57)+ascii(52)+ascii(50)+ascii(55)+ascii(35)+ascii(120)',
    'password = String.fromCharCode(76,97,99,104,115,57,52,50,55,35,120)',
  ])('are found: %s', (text) => expect(patterns(text)).toContain('secret_assignment'));

  it.each([
    'foo(12) + foo(13) + foo(14) + foo(15) + foo(16) + foo(17)',
    'total = SUM(44) + SUM(55) + SUM(66) + SUM(77) + SUM(88) + SUM(99)',
    'rgb: char(44, 55, 66, 77, 88, 99)',
  ])('are no finding: %s', (text) => expect(patterns(text)).toEqual([]));
});
