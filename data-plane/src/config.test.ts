import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@governance/shared/settings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDataPlaneConfig, readGatewayConfig, requireOneProcess } from './config.ts';

let folder: string;
const file = (content: string) => {
  const path = join(folder, 'servers.json');
  writeFileSync(path, content);
  return { SERVICE_MCP_SERVERS_FILE: path };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'governance-config-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('readGatewayConfig', () => {
  it('has the documented defaults', () => {
    expect(readGatewayConfig({})).toMatchObject({
      upstreamAllow: null,
      isProduction: false,
      upstreamTimeoutMs: 120_000,
      messageBytes: 4 * 1024 * 1024,
      stdioServers: new Map(),
    });
  });

  it('reads the file of stdio servers', () => {
    const { stdioServers } = readGatewayConfig(
      file('{"servers":{"files":{"command":"npx","args":["-y","x"],"cwd":"data"}}}'),
    );
    expect(stdioServers.get('files')).toEqual({
      command: 'npx',
      args: ['-y', 'x'],
      env: {},
      cwd: join(folder, 'data'),
    });
  });

  it.each<[string, () => NodeJS.ProcessEnv]>([
    ['SERVICE_MCP_SERVERS_FILE', () => file('{"servers":{"a":{"args":[]}}}')],
    ['SERVICE_MCP_SERVERS_FILE', () => file('{"servers":{"a":{"command":"x","shell":true}}}')],
    ['SERVICE_MCP_SERVERS_FILE', () => file('{"servers":{"a":{"command":"x","tenants":[]}}}')],
    ['SERVICE_MCP_SERVERS_FILE', () => file('{"servers":{"a":{"command":"x","tenants":["b"]}}}')],
    ['SERVICE_MCP_SERVERS_FILE', () => file('no json')],
    ['SERVICE_MCP_SERVERS_FILE', () => ({ SERVICE_MCP_SERVERS_FILE: join(folder, 'none') })],
    ['SERVICE_UPSTREAM_ALLOW', () => ({ SERVICE_UPSTREAM_ALLOW: '10.0.0.0/99' })],
    ['SERVICE_UPSTREAM_TIMEOUT_SECONDS', () => ({ SERVICE_UPSTREAM_TIMEOUT_SECONDS: '0' })],
    ['SERVICE_OPA_URL', () => ({ SERVICE_OPA_URL: 'opa:8181/x' })],
    ['SERVICE_OPA_URL', () => ({ SERVICE_OPA_URL: 'http://user:secret@opa/' })],
    ['SERVICE_OPA_URL', () => ({ SERVICE_OPA_URL: 'http://opa/{tenant}' })],
    ...['no address', 'http://', 'http://host:99999', 'http://user:secret@host'].map(
      (url): [string, () => NodeJS.ProcessEnv] => [
        'SERVICE_LOCALMODEL_URL',
        () => ({ SERVICE_LOCALMODEL_URL: url }),
      ],
    ),
    ['SERVICE_OPA_TOKEN', () => ({ SERVICE_OPA_TOKEN: 'two words' })],
    ['SERVICE_OPA_FAIL_CLOSED', () => ({ SERVICE_OPA_FAIL_CLOSED: 'no' })],
    [
      'SERVICE_OPA_FAIL_OPEN_CONFIRMED',
      () => ({ SERVICE_ENV: 'production', SERVICE_OPA_FAIL_CLOSED: 'false' }),
    ],
    ['SERVICE_MCP_MESSAGE_LIMIT_BYTES', () => ({ SERVICE_MCP_MESSAGE_LIMIT_BYTES: 'many' })],
  ])('refuses a wrong %s by name', (name, env) => {
    expect(() => readGatewayConfig(env())).toThrow(ConfigurationError);
    expect(() => readGatewayConfig(env())).toThrow(name);
  });

  it('reads the address of OPA, and fails open in production only when that is confirmed', () => {
    expect(readGatewayConfig({}).opa).toBeNull();
    const opa = readGatewayConfig({
      SERVICE_ENV: 'production',
      SERVICE_OPA_URL: 'https://opa.example/{tenant_id}',
      SERVICE_OPA_FAIL_CLOSED: 'false',
      SERVICE_OPA_FAIL_OPEN_CONFIRMED: 'true',
    }).opa;
    expect(opa).toMatchObject({ failClosed: false, timeoutMs: 2_000, token: null });
    expect(opa?.address.of('t1').href).toBe('https://opa.example/t1/');
    expect(readGatewayConfig({ SERVICE_OPA_URL: 'http://127.0.0.1:8181' }).opa).toMatchObject({
      failClosed: true,
      address: { isPerTenant: false },
    });
  });
});

describe('the mode data-plane', () => {
  const given = { SERVICE_CP_URL: 'https://cp.example/', SERVICE_CP_TOKEN: 'one, two' };

  it('needs an address and a token, and nothing else', () => {
    const config = readDataPlaneConfig(given);
    expect(config).toMatchObject({ cpUrl: 'https://cp.example', region: null, port: 8080 });
    expect(config.cpTokens.map((token) => token.reveal())).toEqual(['one', 'two']);
    expect(JSON.stringify(config)).not.toContain('one');
    expect(() => readDataPlaneConfig({})).toThrow(/SERVICE_CP_URL[\s\S]*SERVICE_CP_TOKEN/);
    expect(readDataPlaneConfig({ ...given, SERVICE_ENV: 'production' })).toBeDefined();
  });

  it.each([
    ['http://10.1.2.3', 'false', false],
    ['http://10.1.2.3', 'true', true],
    ['http://[::1]:8080', 'true', true],
    ['http://control-plane:8080', 'true', true],
    ['http://8.8.8.8', 'true', false],
    ['http://[2001:db8::1]', 'true', false],
  ])('in production, %s with SERVICE_CP_ALLOW_HTTP=%s: %s', (url, allowed, isFine) => {
    const read = () =>
      readDataPlaneConfig({
        ...given,
        SERVICE_ENV: 'production',
        SERVICE_CP_URL: url,
        SERVICE_CP_ALLOW_HTTP: allowed,
      });
    if (isFine) expect(read().cpUrl).toBe(url);
    else expect(read).toThrow('must be https');
    expect(readDataPlaneConfig({ ...given, SERVICE_CP_URL: url }).cpUrl).toBe(url);
  });

  it.each([
    ['SERVICE_CP_URL', 'https://cp.example/?tenant=a', 'must be an address without user'],
    ['SERVICE_CP_URL', 'https://cp.example/#top', 'must be an address without user'],
    ['SERVICE_CP_URL', 'https://user:word@cp.example', 'must be an address without user'],
    ['SERVICE_CP_TOKEN', 'one, t w o', 'must be tokens as they were issued'],
    ['SERVICE_CP_TOKEN', '"one"', 'must be tokens as they were issued'],
    ['SERVICE_CP_TOKEN', 'one\ntwo', 'must be tokens as they were issued'],
    ['SERVICE_CP_TOKEN', 'tök', 'must be tokens as they were issued'],
  ])('refuses %s=%s, and names it', (name, value, message) => {
    const read = () => readDataPlaneConfig({ ...given, [name]: value });
    expect(read).toThrow(`${name}: ${message}`);
  });

  it('may have several workers, which no other mode has', () => {
    expect(readDataPlaneConfig(given).workers).toBe(1);
    expect(readDataPlaneConfig({ ...given, SERVICE_WORKERS: '64' }).workers).toBe(64);
    for (const wrong of ['0', '65', '-1', '1.5', 'all']) {
      expect(() => readDataPlaneConfig({ ...given, SERVICE_WORKERS: wrong })).toThrow(
        'SERVICE_WORKERS: must be a whole number from 1 to 64',
      );
    }
    for (const mode of ['standalone', 'control-plane'] as const) {
      requireOneProcess({}, mode);
      requireOneProcess({ SERVICE_WORKERS: '1' }, mode);
      const ask = () => requireOneProcess({ SERVICE_WORKERS: '2' }, mode);
      expect(ask).toThrow(ConfigurationError);
      expect(ask).toThrow(`SERVICE_WORKERS: must be 1 in mode ${mode}`);
    }
  });
});
