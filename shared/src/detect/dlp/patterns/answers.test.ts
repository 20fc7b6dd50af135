import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('a password that answers a question', () => {
  it.each([
    'What is the password? - hunter2xyz',
    'What is the password?\n- hunter2xyz',
    'What is the password?\n\nhunter2xyz',
    'Q: what was the password again?\nA: hunter2xyz',
    '[10:43] Ana: what is the wifi password?\n[10:44] Ben: hunter2xyz',
    'Ana (10:43): what is the wifi password?\nBen (10:44): it is hunter2xyz',
    'Anna, 10:43\nwhat was the password again?\n\nBen, 10:44\nhunter2xyz',
    '<ana> whats the password for jenkins?\n<ben> its hunter2xyz',
    '> what is the password of the scanner?\n> hunter2xyz',
    'Wie lautet das Passwort?\nhunter2xyz',
    'Quel est le mot de passe ? - hunter2xyz',
    '¿Cuál es la contraseña? hunter2xyz',
    'Qual è la password?\nhunter2xyz',
    'Qual é a senha do wifi?\nhunter2xyz',
    'Wat is het wachtwoord? hunter2xyz',
    'Jakie jest hasło?\n- hunter2xyz',
    'Vad är lösenordet?\nhunter2xyz',
    'Какой пароль?\n— hunter2xyz',
    'Şifre nedir? - hunter2xyz',
    'パスワードは何ですか？\nhunter2xyz',
    '密码是什么？\nhunter2xyz',
    '비밀번호가 뭐예요?\nhunter2xyz',
    JSON.stringify([
      { role: 'user', content: 'What is the password of the db?' },
      { role: 'assistant', content: 'It is hunter2xyz.' },
    ]),
  ])('is found: %s', (text) => expect(found(text)).toEqual(['hunter2xyz']));

  it('is found in the messages of a document', () => {
    for (const messages of [
      [
        { role: 'user', content: 'What is the password of the db?' },
        { role: 'assistant', content: 'hunter2xyz' },
      ],
      [
        { from: 'ana', text: 'password?' },
        { from: 'ben', text: 'hunter2xyz' },
      ],
    ]) {
      expect(scanner.scanValue({ messages })).toMatchObject([{ pattern: 'secret_assignment' }]);
    }
  });

  it.each([
    'What is the password policy?\n- min12chars',
    'Which hash is the password stored with?\nargon2id',
    'Forgot your password?\nSee KB12345',
    'What is the password? KB-12345 has it',
    'What is the password?\nAsk Ben in room12',
    'Which password manager do we use?\n- Keeper365',
    'How long is the password?\n12chars',
    'What changed in the password field? - v2.1.0',
    'password? no, 2 factors',
    'What is a password?\n\n1. A secret',
    'When does the password expire? 2026-12-01',
    JSON.stringify({ fields: ['password?', 'address2'] }),
    '<label>What is the password?</label>\n<input id="pw1field">',
    'Passwort vergessen?\nHotline4711',
    'What is the password for?\n- login to https://intra.example.net/wiki2',
    '- What is the password?\n- Where is room12b?',
  ])('is none in: %s', (text) => expect(found(text)).toEqual([]));
});
