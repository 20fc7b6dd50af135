import { describe, expect, it } from 'vitest';
import { credentialHint, isSameOrigin, ServerId } from './mcp-server.ts';
import { NewServerBody, ServerPatchBody } from './mcp-server-schemas.ts';

describe('a server_id', () => {
  it.each(['a', '0', 'files', 'my-server-2', 'a'.repeat(63)])('%s is one', (id) => {
    expect(ServerId.safeParse(id).success).toBe(true);
  });
  it.each([
    '',
    '-a',
    'A',
    'a_b',
    'a__b',
    'a/b',
    'a.b',
    'é',
    'a'.repeat(64),
    'a\n',
    'a b',
  ])('%j is none', (id) => {
    expect(ServerId.safeParse(id).success).toBe(false);
  });
});

describe('a url', () => {
  const parse = (url: string) =>
    NewServerBody.safeParse({ server_id: 'a', transport: 'streamable-http', url }).success;
  it.each([
    'https://mcp.example.com/mcp',
    'http://127.0.0.1:8080',
    'https://[::1]/x?y=z',
  ])('%s is one', (url) => {
    expect(parse(url)).toBe(true);
  });
  it.each([
    'mcp.example.com',
    'ftp://mcp.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user:secret@mcp.example.com/',
    'https://user@mcp.example.com/',
    'https://mcp.example.com/#part',
    `https://mcp.example.com/${'x'.repeat(2_048)}`,
    'https://mcp.example.com/\u0000',
  ])('%s is none', (url) => {
    expect(parse(url)).toBe(false);
  });
});

describe('a body', () => {
  const http = { server_id: 'a', transport: 'streamable-http', url: 'https://mcp.example.com/' };
  const withHeader = (name: string, value = 'x') =>
    NewServerBody.safeParse({ ...http, credential: { type: 'header', name, value } }).success;

  it('never carries a command, nor the fields of the other transport', () => {
    const stdio = { server_id: 'a', transport: 'stdio', local_name: 'fs' };
    expect(NewServerBody.safeParse(stdio).success).toBe(true);
    for (const more of [{ command: 'sh' }, { args: [] }, { env: {} }, { url: http.url }]) {
      expect(NewServerBody.safeParse({ ...stdio, ...more }).success).toBe(false);
    }
    expect(NewServerBody.safeParse({ ...http, local_name: 'fs' }).success).toBe(false);
    expect(ServerPatchBody.safeParse({ transport: 'stdio' }).success).toBe(false);
  });

  it('has credentials that are one header and not one of the gateway’s own', () => {
    expect(withHeader('X-Api-Key')).toBe(true);
    expect(withHeader('Authorization', 'Basic abc')).toBe(true);
    for (const name of ['Host', 'content-length', 'MCP-Session-Id', 'Cookie', 'a b', 'a:b', '']) {
      expect(withHeader(name), name).toBe(false);
    }
    for (const value of ['', 'a\r\nX-Other: b', 'a\n', ' a', 'ü']) {
      expect(withHeader('X-Api-Key', value), JSON.stringify(value)).toBe(false);
    }
  });
});

it('hints at a secret only where the hint leaves most of it', () => {
  expect(credentialHint(null)).toBeNull();
  expect(credentialHint({ type: 'bearer', token: 'short-secret' })).toBeNull();
  expect(credentialHint({ type: 'header', name: 'X', value: '0123456789abcdef' })).toBe('…cdef');
});

it('compares origins with their ports', () => {
  expect(isSameOrigin('https://a.example/x', 'https://a.example:443/y')).toBe(true);
  expect(isSameOrigin('https://a.example/', 'http://a.example/')).toBe(false);
  expect(isSameOrigin('https://a.example/', 'https://a.example:8443/')).toBe(false);
  expect(isSameOrigin(null, 'https://a.example/')).toBe(false);
});
