import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  bareAddress,
  ConfigurationError,
  commaList,
  findUnknownSettings,
  flag,
  originList,
  parseSettings,
  Secret,
  secretText,
  setting,
  webAddress,
  wholeNumber,
} from './settings.ts';

const SETTINGS = {
  port: setting({
    name: 'SERVICE_PORT',
    description: '',
    default: '8080',
    parse: wholeNumber(0, 9),
  }),
  token: setting({ name: 'SERVICE_TOKEN', description: '', parse: secretText }),
};

describe('parseSettings', () => {
  it('treats an empty variable as not set', () => {
    const settings = { ...SETTINGS, port: { ...SETTINGS.port, default: '8' } };
    expect(parseSettings(settings, { SERVICE_PORT: '', SERVICE_TOKEN: '' })).toEqual({ port: 8 });
  });

  it('holds defaults to the same rules', () => {
    expect(() => parseSettings(SETTINGS, {})).toThrow(ConfigurationError);
  });

  it('adds what lies between settings', () => {
    const check = () => [{ name: 'SERVICE_TOKEN', message: 'is needed with SERVICE_PORT' }];
    expect(() => parseSettings(SETTINGS, { SERVICE_PORT: '1' }, check)).toThrow(
      'the configuration is not usable:\n  SERVICE_TOKEN: is needed with SERVICE_PORT',
    );
  });
});

describe('values', () => {
  it.each([
    [flag, 'true', true],
    [flag, 'false', false],
    [wholeNumber(1, 10), '10', 10],
    [commaList, ' a ,b,, ', ['a', 'b']],
    [webAddress, 'https://a.example', 'https://a.example'],
    [bareAddress, 'HTTPS://A.Example:443//', 'https://a.example'],
    [bareAddress, 'http://a.example:80/Path/', 'http://a.example/Path'],
    [bareAddress, 'http://localhost:0', 'http://localhost:0'],
    [originList, '*', ['*']],
    [originList, 'HTTPS://A.Example:443/, http://b:80', ['https://a.example', 'http://b']],
    [originList, 'http://ü.example:8080', ['http://xn--tda.example:8080']],
    [originList, 'chrome-extension://abc', ['chrome-extension://abc']],
    [originList, '', []],
  ] as [z.ZodType, string, unknown][])('%# reads %s', (parse, text, value) => {
    expect(parse.parse(text)).toEqual(value);
  });

  it.each([
    [flag, 'yes'],
    [flag, 'TRUE'],
    [wholeNumber(1, 10), '11'],
    [wholeNumber(1, 10), '1e0'],
    [wholeNumber(1, 10), '-1'],
    [webAddress, 'ftp://a.example'],
    [webAddress, 'a.example'],
    [bareAddress, 'a.example'],
    [bareAddress, 'https://user@a.example'],
    [bareAddress, 'https://:word@a.example'],
    [bareAddress, 'https://a.example/?'],
    [bareAddress, 'https://a.example/#'],
    [originList, 'a.example'],
    [originList, 'https://a.example/page'],
    [originList, 'https://a.example/?'],
    [originList, 'https://user@a.example'],
    [originList, 'https://*.a.example'],
    [originList, 'file:///a'],
    [originList, 'null'],
  ] as [z.ZodType, string][])('%# refuses %s', (parse, text) => {
    expect(parse.safeParse(text).success).toBe(false);
  });
});

it('a secret is shown only on request', () => {
  const secret = new Secret('hunter2');
  const shown = `${secret} ${JSON.stringify({ secret })} ${inspect({ secret })} ${Object.values(secret)}`;
  expect(shown).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2');
});

it('finds the variables that nobody reads', () => {
  const env = { SERVICE_PROT: '1', DATABASE_URI: 'x', SERVICE_PORT: '1', SERVICE_X: '', PATH: '/' };
  expect(findUnknownSettings(env, SETTINGS)).toEqual(['DATABASE_URI', 'SERVICE_PROT']);
});
