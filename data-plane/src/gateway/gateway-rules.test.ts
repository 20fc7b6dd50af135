/** The gateway's small pure rules. */
import { describe, expect, it } from 'vitest';
import type { ActiveRules } from '../contracts.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import { parseAccept } from './answer.ts';
import { createOriginPolicy } from './arrival.ts';
import { eventText } from './event-stream.ts';
import { challengeHeader, metadataPaths, protectedResource } from './protected-resource.ts';
import { findNamed, splitUnifiedName, unifiedName } from './servers.ts';

describe('unified names', () => {
  const server = (server_id: string) => ({
    server_id,
    transport: 'stdio' as const,
    url: null,
    local_name: server_id,
  });
  const rules: ActiveRules = {
    revision: 1,
    digest: '',
    engine: { evaluate: () => ({ ok: false, fault: 'not_loaded', message: '' }) },
    settings: {
      tenant_id: '',
      mcp_servers: { a: server('a'), a__b: server('a__b'), files: server('files') },
    },
  };

  it.each([
    ['files', 'read'],
    ['a', 'read'],
    ['a__b', 'read__all'],
    ['a', '_odd'],
  ])('%s and %s are split again', (serverId, toolName) => {
    expect(splitUnifiedName(rules, unifiedName(serverId, toolName))).toEqual({
      serverId,
      toolName,
    });
  });

  it('belong to the longest server name, so that none captures the tools of another', () => {
    expect(splitUnifiedName(rules, 'a__b__c')).toEqual({ serverId: 'a__b', toolName: 'c' });
  });

  it.each([
    '',
    'files',
    'files__',
    '__read',
    'other__read',
    'toString__x',
    '__proto____x',
  ])('%s belongs to no server', (name) => expect(splitUnifiedName(rules, name)).toBeUndefined());

  const askedBy = (permissions: string[], name: string) => {
    const agent = { permits: [{ permissions, scopes: null }] } as unknown as Caller['agent'];
    return findNamed({ agent }, rules, name);
  };

  it.each([
    ['a__b__c', { serverId: 'a__b', toolName: 'c' }],
    ['other__read', { serverId: 'other', toolName: 'read' }],
    ['other__read__all', { serverId: 'other', toolName: 'read__all' }],
    ['other___odd', { serverId: 'other', toolName: '_odd' }],
    ['other____x', { serverId: 'other', toolName: '__x' }],
    ['other__', undefined],
    ['__read', undefined],
    ['__other__read', undefined],
    ['other', undefined],
  ])('%s is split for an agent that may use no such server', (name, named) => {
    expect(askedBy([], name)).toEqual(named);
  });

  it('of a server that is not registered are split only for who may not learn that', () => {
    expect(askedBy(['*:*'], 'other__read')).toBeUndefined();
    expect(askedBy(['*:*'], 'files__read')).toEqual({ serverId: 'files', toolName: 'read' });
  });
});

describe('origins', () => {
  const policy = createOriginPolicy('http://localhost:8080', ['https://console.example']);
  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ['http://localhost:8080', true],
    ['http://127.0.0.1:8080', true],
    ['http://[::1]:8080', true],
    ['https://console.example', true],
    ['HTTPS://CONSOLE.EXAMPLE', true],
    ['http://localhost:8081', false],
    ['https://localhost:8080', false],
    ['http://console.example', false],
    ['https://console.example.evil', false],
    ['null', false],
    ['', false],
  ])('%s: %s', (origin, isAllowed) => {
    expect(policy.isAllowed(origin)).toBe(isAllowed);
  });

  it('of loopback count as own only where the service is on loopback', () => {
    const global = createOriginPolicy('https://gateway.example', []);
    expect(global.isAllowed('https://gateway.example')).toBe(true);
    expect(global.isAllowed('https://localhost')).toBe(false);
    expect(createOriginPolicy('https://gateway.example', ['*']).isAllowed('null')).toBe(true);
  });
});

it.each([
  [undefined, true, true, false],
  ['*/*', true, true, false],
  ['application/json, text/event-stream', true, true, false],
  ['text/event-stream, application/json', true, true, true],
  ['text/event-stream, */*', true, true, true],
  ['application/json;q=0.9', true, false, false],
  ['TEXT/EVENT-STREAM', false, true, true],
  ['text/*', false, true, true],
  ['text/html', false, false, false],
  [',;', false, false, false],
])('Accept: %s', (header, json, events, prefersEvents) => {
  expect(parseAccept(header)).toEqual({ json, events, prefersEvents });
});

it('writes a message of several lines as one event', () => {
  expect(eventText('{"a":1}')).toBe('event: message\ndata: {"a":1}\n\n');
  expect(eventText('{\r\n"a":\n1}')).toBe('event: message\ndata: {\ndata: "a":\ndata: 1}\n\n');
});

it('has its metadata where RFC 9728 puts it, and where a proxy that strips a path asks', () => {
  const plain = '/.well-known/oauth-protected-resource/mcp/v1';
  expect(metadataPaths('https://g')).toEqual([plain]);
  expect(metadataPaths('https://g/base')).toEqual([
    plain,
    '/.well-known/oauth-protected-resource/base/mcp/v1',
  ]);
  expect(protectedResource('https://g/base', 'files')).toMatchObject({
    resource: 'https://g/base/mcp/v1/files',
    authorization_servers: ['https://g/base'],
  });
});

it('challenges with a scheme that the client can use', () => {
  expect(challengeHeader('https://g/', null, 'bearer', null)).toBe(
    'Bearer resource_metadata="https://g/.well-known/oauth-protected-resource/mcp/v1"',
  );
  expect(challengeHeader('https://g', 'a"b', 'bearer', 'invalid_token')).toBe(
    'Bearer resource_metadata="https://g/.well-known/oauth-protected-resource/mcp/v1/a%22b", error="invalid_token"',
  );
  expect(challengeHeader('https://g', null, 'basic', 'invalid_token')).toMatch(/^Basic /);
});
