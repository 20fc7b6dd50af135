/**
 * docker/ without an engine: what can be checked of the Dockerfile and of compose.yaml by reading
 * them, and the services of compose.yaml started with the environment that they would get.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CONTROL_PLANE_SETTINGS, parseControlPlaneConfig } from '@governance/control-plane/config';
import { readDataPlaneConfig } from '@governance/data-plane/config';
import { REMOTE_DATA_PLANE_SETTINGS } from '@governance/data-plane/settings';
import { projectRoot } from '@governance/shared/process/assets';
import { findUnknownSettings } from '@governance/shared/settings';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { adminApi } from './support/admin-api.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

vi.setConfig({ testTimeout: 90_000 });

interface ComposeService {
  build?: { context: string; dockerfile: string; target: string };
  env_file?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
}

type Env = Record<string, string>;

const run = promisify(execFile);
const docker = join(projectRoot, 'docker');
const compose = parse(readFileSync(join(docker, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, ComposeService>;
  volumes: Record<string, null>;
};
const stages = readStages(readFileSync(join(docker, 'Dockerfile'), 'utf8'));
const database = await testDatabase();
let folder: string;

const setup = (...args: string[]) =>
  run(process.execPath, [join(docker, 'setup.mjs'), ...args]).then(({ stdout }) => stdout);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'governance-docker-'));
  await setup('env', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Stage {
  name: string;
  base: string;
  /** Keyword and the rest, in order; lines that go on are joined. */
  instructions: [string, string][];
}

function readStages(text: string): Stage[] {
  const found: Stage[] = [];
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, keyword = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === 'FROM') {
      const [, base = '', name = ''] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      found.push({ name, base, instructions: [] });
    } else found.at(-1)?.instructions.push([keyword, rest]);
  }
  return found;
}

/** A stage's own instructions after those of the stages it builds on. */
function allInstructions(name: string): [string, string][] {
  const stage = stages.find((one) => one.name === name);
  return stage === undefined ? [] : [...allInstructions(stage.base), ...stage.instructions];
}

function imageEnv(target: string): Env {
  const texts = allInstructions(target).flatMap(([keyword, rest]) =>
    keyword === 'ENV' ? rest : [],
  );
  return Object.fromEntries(texts.flatMap((text) => text.split(/\s+/)).map(splitVariable));
}

const splitVariable = (text: string) => text.split(/=(.*)/s, 2) as [string, string];

function fileEnv(name: string): Env {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map(splitVariable));
}

/** What a service's process would find in its environment. */
function envOf(service: ComposeService): Env {
  const files = (service.env_file ?? []).map(fileEnv);
  return Object.assign({}, imageEnv(service.build?.target ?? ''), ...files, service.environment);
}

function serviceOf(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`no service ${name}`);
  return service;
}

const DATA_PLANES = ['data-plane-1', 'data-plane-2'];

describe('the Dockerfile', () => {
  const copies = stages.flatMap(({ instructions }) =>
    instructions.flatMap(([keyword, rest]) => (keyword === 'COPY' ? rest : [])),
  );

  it('copies what exists', () => {
    for (const copy of copies) {
      const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(copy) ?? [];
      if (from !== undefined) expect(stages.map(({ name }) => name)).toContain(from);
      for (const path of paths.split(/\s+/).slice(0, -1)) {
        // Made by the build.
        if (path === '/app' || path === '/app/dist') continue;
        expect(existsSync(join(projectRoot, path.replace('/app/', ''))), copy).toBe(true);
      }
    }
  });

  it('copies the manifest of each workspace before it installs', () => {
    const { workspaces } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    for (const workspace of workspaces as string[]) {
      expect(copies).toContain(`${workspace}/package.json ${workspace}/`);
    }
  });

  it('keeps env files out of what it is built from', () => {
    const ignored = readFileSync(join(docker, 'Dockerfile.dockerignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/*.env', '**/.env', '**/.git']));
    expect(readFileSync(join(projectRoot, '.gitignore'), 'utf8')).toContain('docker/*.env\n');
  });

  it.each(['control-plane', 'data-plane', 'standalone'])('%s is slim, and no root', (target) => {
    const last = (keyword: string) =>
      allInstructions(target).findLast(([one]) => one === keyword)?.[1];
    expect(stages.find(({ name }) => name === 'runtime')?.base).toBe('node:24-bookworm-slim');
    expect(stages.find(({ name }) => name === target)?.base).toBe('runtime');
    expect(last('USER')).toBe('node');
    expect(last('HEALTHCHECK')).toContain('/health');
    expect(imageEnv(target)).toMatchObject({
      SERVICE_DEPLOYMENT_MODE: target,
      SERVICE_DATA_DIR: last('VOLUME'),
    });
  });
});

describe('compose.yaml', () => {
  it('builds targets that there are, from the root of the project', () => {
    const built = Object.values(compose.services).flatMap(({ build }) => build ?? []);
    expect(built).toHaveLength(3);
    for (const { context, dockerfile, target } of built) {
      expect(existsSync(join(docker, context, dockerfile))).toBe(true);
      expect(stages.map(({ name }) => name)).toContain(target);
    }
  });

  it('holds no secret: those are in files that only their owner reads', () => {
    const secret = /PASSWORD|TOKEN|KEY|SECRET|DATABASE/;
    for (const { environment = {} } of Object.values(compose.services)) {
      expect(Object.keys(environment).filter((name) => secret.test(name))).toEqual([]);
    }
    for (const name of ['postgres.env', 'control-plane.env', 'data-planes.env']) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
  });

  it('gives the control plane a configuration that starts in production', () => {
    const env = envOf(serviceOf('control-plane'));
    expect(findUnknownSettings(env, CONTROL_PLANE_SETTINGS)).toEqual([]);
    expect(parseControlPlaneConfig(env)).toMatchObject({ env: 'production', host: '0.0.0.0' });
    const { username, hostname, password } = new URL(env.DATABASE_URL ?? '');
    expect([username, hostname]).toEqual(['governance', 'postgres']);
    expect(password).toBe(fileEnv('postgres.env').GOVERNANCE_PASSWORD);
  });

  it.each(DATA_PLANES)('gives %s one that needs nothing but the token', (name) => {
    const env = envOf(serviceOf(name));
    expect(findUnknownSettings(env, REMOTE_DATA_PLANE_SETTINGS)).toEqual([]);
    expect(() => readDataPlaneConfig(env)).toThrow(/SERVICE_CP_TOKEN: is required/);
    const { cpUrl } = readDataPlaneConfig({ ...env, SERVICE_CP_TOKEN: 'token' });
    const port = imageEnv('control-plane').SERVICE_PORT ?? '8080';
    expect(cpUrl).toBe(`http://control-plane:${port}`);
  });

  it('gives each service a folder of its own, and starts them in their order', () => {
    const volumes = Object.values(compose.services).flatMap((service) => service.volumes ?? []);
    const named = volumes
      .map((volume) => volume.split(':')[0] ?? '')
      .filter((one) => !one.startsWith('.'));
    expect([...named].sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(new Set(named).size).toBe(named.length);
    for (const volume of volumes.filter((one) => one.startsWith('.'))) {
      expect(existsSync(join(docker, volume.split(':')[0] ?? '')), volume).toBe(true);
    }
    expect(serviceOf('control-plane').depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
    });
    for (const name of DATA_PLANES) {
      expect(serviceOf(name).depends_on).toEqual({
        'control-plane': { condition: 'service_healthy' },
      });
      const [, host] = serviceOf(name).ports?.[0]?.split(':') ?? [];
      expect(serviceOf(name).environment?.SERVICE_PUBLIC_URL).toBe(`http://localhost:${host}`);
    }
  });
});

describe('setup.mjs', () => {
  it('overwrites no secret', async () => {
    await expect(setup('env', folder)).rejects.toMatchObject({ code: 1 });
    expect(fileEnv('control-plane.env').SERVICE_MASTER_KEY).not.toBe('');
  });

  it('issues the token with which both data planes register and become ready', async () => {
    // Where they are is this machine, instead of the network between containers.
    const here = ({ SERVICE_HOST, SERVICE_DATA_DIR, SERVICE_PUBLIC_URL, NODE_ENV, ...env }: Env) =>
      env;
    const started: ServiceProcess[] = [];
    try {
      const controlPlane = await startService({
        env: { ...here(envOf(serviceOf('control-plane'))), DATABASE_URL: database.url },
      });
      started.push(controlPlane);
      expect(await setup('token', folder, controlPlane.url)).toContain('data-planes.env');
      for (const name of DATA_PLANES) {
        const env = { ...here(envOf(serviceOf(name))), SERVICE_CP_URL: controlPlane.url };
        started.push(await startService({ env }));
      }
      const password = fileEnv('control-plane.env').SERVICE_ADMIN_PASSWORD ?? '';
      const admin = await adminApi(controlPlane.url, 'admin', password);
      const { data_planes: planes } = await admin.get<{ data_planes: object[] }>(
        '/api/v1/data-planes',
      );
      expect(planes).toHaveLength(2);
    } finally {
      for (const service of started.reverse()) await service.dispose();
    }
  });
});
