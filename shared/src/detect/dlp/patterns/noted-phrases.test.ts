import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('a note between a label and its value', () => {
  it.each([
    ['borg asks for the passphrase, type: marble juniper lantern quartz otter\n- verify', 36],
    ['passphrase, type it exactly: copper lantern drizzle harbor', 29],
    ['password, all lower case: copper lantern drizzle harbor', 26],
    ['password, all lowercase: hunter2xyz', 25],
    ['Passwort, Groß- und Kleinschreibung beachten: Sommer2xyz', 46],
    ['mot de passe (tout en minuscules) : soleil99ab', 36],
  ])('hides none: %s', (text, start) => {
    expect(found(text)).toEqual([text.slice(start).split('\n')[0]]);
  });

  it('hides none in lines below', () => {
    expect(found('passphrase:\n  thistle ribbon\n   maple glacier\n   anchor cactus')).toEqual([
      'thistle ribbon\n   maple glacier\n   anchor cactus',
    ]);
  });

  it.each([
    'password, then: open settings choose privacy',
    'passphrase, in short: your words must differ',
    'passphrase:\n  enter twice\n  press return\n  wait for it\n',
    'passphrases:\n  length\n  rotation\n  storage policy\n',
    'The password is case sensitive: check caps lock',
  ])('is none of a value: %s', (text) => expect(found(text)).toEqual([]));
});

describe('passphrases in Cyrillic', () => {
  it.each([
    ['Парольная фраза - медный фонарь дождь гавань', 18],
    ['Пароль — медный фонарь морось гавань', 9],
    ['Парольная фраза от архива — кит лампа мост роза', 28],
    ['кодовая фраза: камень ветер ложка океан жираф', 15],
    ['Кодова фраза — вітер лампа камінь ложка', 15],
    ['Пароль: медный фонарь морось гавань', 8],
  ])('are found: %s', (text, start) => expect(found(text)).toEqual([text.slice(start)]));

  it.each([
    'Пароль: обязательное поле формы входа',
    'пароль: длинный набор разных символов',
    'пароль: можно сменить через настройки',
    'Пароль — секретное слово пользователя системы',
    'Пароль - последовательность символов известная владельцу',
    'Пароль от почты — тайна каждого сотрудника отдела',
    'Пароль — головная боль любого админа',
    'пароль - защита данных клиентов банка',
    'Пароль: срок действия истекает завтра',
    'Пароль — основа безопасности любой компании',
    'Пароль - защита від чужих очей',
    'Пароль — слабка ланка кожної системи',
    'парольная политика: Min8chars',
  ])('are no sentence about one: %s', (text) => expect(found(text)).toEqual([]));
});
