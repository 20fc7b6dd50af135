import { describe, expect, it } from 'vitest';
import { addressFor, asPublicAddress, ownAddresses } from './own-addresses.ts';

const LOCAL = 'http://localhost:8080';

describe('ownAddresses', () => {
  it('knows the names of a loopback address', () => {
    expect(ownAddresses(LOCAL)).toEqual([LOCAL, 'http://127.0.0.1:8080', 'http://[::1]:8080']);
    expect(ownAddresses('http://127.0.0.1:8080/a/')[1]).toBe('http://localhost:8080/a');
  });

  it('adds none to an address that clients elsewhere use', () => {
    expect(ownAddresses('https://governance.example/')).toEqual(['https://governance.example']);
  });
});

describe('addressFor', () => {
  it('answers the name that the client used, if it is one of its own', () => {
    expect(addressFor(LOCAL, '127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
    expect(addressFor(LOCAL, 'localhost:8080')).toBe(LOCAL);
  });

  it.each([
    undefined,
    'evil.example',
    '127.0.0.1:8081',
    '127.0.0.1',
    'localhost.evil.example:8080',
    '',
    '127.0.0.1:8080@evil.example',
  ])('answers the public address to the Host %j', (host) => {
    expect(addressFor(LOCAL, host)).toBe(LOCAL);
    expect(addressFor('https://governance.example', host)).toBe('https://governance.example');
  });
});

describe('asPublicAddress', () => {
  it('translates paths below another name, and nothing else', () => {
    expect(asPublicAddress(LOCAL, 'http://127.0.0.1:8080/mcp/v1')).toBe(`${LOCAL}/mcp/v1`);
    expect(asPublicAddress(LOCAL, 'http://127.0.0.1:80801/mcp/v1')).toBe(
      'http://127.0.0.1:80801/mcp/v1',
    );
    expect(asPublicAddress(LOCAL, 'http://other:8080/mcp/v1')).toBe('http://other:8080/mcp/v1');
  });
});
