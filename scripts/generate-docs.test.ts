import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROL_PLANE_SETTINGS } from '@governance/control-plane/config';
import { DATA_PLANE_SETTINGS } from '@governance/data-plane/settings';
import { projectRoot } from '@governance/shared/process/assets';
import { parseSettings } from '@governance/shared/settings';
import { describe, expect, it } from 'vitest';
import { generateDocs } from './generate-docs.ts';

const declared = [...Object.values(CONTROL_PLANE_SETTINGS), ...Object.values(DATA_PLANE_SETTINGS)];

describe('the generated documents', () => {
  it.each(Object.entries(generateDocs()))('%s is current (npm run docs:generate)', (path, text) => {
    const file = join(projectRoot, path);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });

  it('name every variable that is declared', () => {
    const { 'docs/configuration.md': page, '.env.example': example } = generateDocs();
    for (const text of [page, example]) {
      for (const { name } of declared) expect(text).toContain(name);
    }
  });

  it('say between which bounds a number is, also where it is converted', () => {
    const { 'docs/configuration.md': page, '.env.example': example } = generateDocs();
    for (const text of [page, example]) {
      expect(text).toMatch(/The port to listen on; .* From 0 to 65535\./);
      expect(text).toMatch(/From 1 to 3600\./);
    }
    expect(page).toMatch(/SERVICE_UPSTREAM_TIMEOUT_SECONDS.* From 1 to 3600\./);
  });

  it('.env.example as it stands is a configuration that starts', () => {
    const lines = generateDocs()['.env.example']?.match(/^#[A-Z_]+=.*$/gm) ?? [];
    const env = Object.fromEntries(lines.map((line) => line.slice(1).split(/=(.*)/s, 2)));
    expect(Object.keys(env).length).toBeGreaterThan(20);
    parseSettings(CONTROL_PLANE_SETTINGS, env);
    parseSettings(DATA_PLANE_SETTINGS, env);
  });

  it('declare each variable once', () => {
    const byName = new Map<string, unknown>();
    for (const setting of declared) {
      expect(byName.get(setting.name) ?? setting, setting.name).toBe(setting);
      byName.set(setting.name, setting);
    }
  });
});
