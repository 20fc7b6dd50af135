import { describe, expect, it } from 'vitest';
import type { CellResult } from './cell.ts';
import { INSPECTOR } from './inspector-client.ts';
import { matrixSection, withMatrix } from './page.ts';
import { MODERN } from './servers.ts';

const result = (path: 'direct' | 'unified', failure?: string): CellResult => ({
  cell: { client: INSPECTOR, server: MODERN, scheme: 'Basic', path },
  done: ['tools', 'call'],
  ...(failure !== undefined && { failure }),
});

describe('matrixSection', () => {
  it('has a row for a client with a server, with a verdict for each way', () => {
    const section = matrixSection([result('direct'), result('unified', 'no answer')]);
    expect(section).toContain(
      '| Inspector CLI 1 | modern server, HTTP | ok | not run | fails | not run | tools, call |',
    );
  });

  it('says who took part, and what a client has no way to do', () => {
    const section = matrixSection([result('direct')]);
    expect(section).toMatch(
      /\| Inspector CLI 1 \| client \| @modelcontextprotocol\/inspector-cli \d/,
    );
    expect(section).toContain('- Inspector CLI 1, progress: the client does not show it.');
  });
});

describe('withMatrix', () => {
  const marks = [
    '<!-- Written by `npm run matrix` from here on. -->',
    '<!-- Written by `npm run matrix` up to here. -->',
  ];

  it('replaces what is between the marks and nothing else', () => {
    const page = `before\n${marks[0]}\n\nold\n${marks[1]}\nafter\n`;
    const renewed = withMatrix(page, 'new\n');
    expect(renewed).toBe(`before\n${marks[0]}\n\nnew\n\n${marks[1]}\nafter\n`);
    expect(withMatrix(renewed, 'new\n')).toBe(renewed);
  });

  it('refuses a page without them', () => {
    expect(() => withMatrix('nothing', 'new')).toThrow(/no place/);
  });
});
