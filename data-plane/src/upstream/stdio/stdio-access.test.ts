import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StdioServer } from './servers-file.ts';
import { createStdioAccess } from './stdio-access.ts';

const server = (tenants?: string[]): StdioServer => ({
  command: 'x',
  args: [],
  env: {},
  ...(tenants && { tenants }),
});

function accessTo(servers: Record<string, StdioServer>, isSeveral: () => boolean) {
  const warned: unknown[] = [];
  const log = { warn: (fields: unknown) => void warned.push(fields) };
  return { ...createStdioAccess(new Map(Object.entries(servers)), isSeveral, log), warned };
}

describe('who may use a stdio server', () => {
  it('is the one tenant, where an entry names none, until there is a second', () => {
    let isSeveral = false;
    const access = accessTo({ own: server(), named: server(['a']) }, () => isSeveral);
    expect(access.listNames('a')).toEqual(['named', 'own']);
    expect(access.get('a', 'own').command).toBe('x');
    isSeveral = true;
    expect(access.listNames('a')).toEqual(['named']);
    expect(() => access.get('a', 'own')).toThrow(
      'No stdio server named own is available to this tenant. Available: named. An entry of SERVICE_MCP_SERVERS_FILE must name its tenants.',
    );
    expect(() => access.get('b', 'own')).toThrow('Available: none.');
    expect(access.warned).toEqual([{ servers: ['own'] }]);
  });

  it('answers the same for another’s server and for an unknown one', () => {
    const tenants = fc.option(fc.subarray(['a', 'b', 'c', '*'], { minLength: 1 }), {
      nil: undefined,
    });
    fc.assert(
      fc.property(fc.array(tenants, { maxLength: 6 }), fc.boolean(), (entries, isSeveral) => {
        const all = Object.fromEntries(entries.map((one, i) => [`server-${i}`, server(one)]));
        const access = accessTo(all, () => isSeveral);
        const open = entries.flatMap((one, i) =>
          (one === undefined ? !isSeveral : one.includes('a') || one.includes('*'))
            ? [`server-${i}`]
            : [],
        );
        expect(access.listNames('a')).toEqual(open.sort());
        for (const name of Object.keys(all)) {
          const refusal = access.findRefusal('a', name);
          if (open.includes(name)) expect(refusal).toBeUndefined();
          else {
            const unknown = access.findRefusal('a', 'unknown') ?? '';
            expect(refusal).toBe(unknown.replace('unknown', name));
          }
        }
      }),
    );
  });
});
