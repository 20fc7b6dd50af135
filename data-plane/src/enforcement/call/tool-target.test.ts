import { describe, expect, it } from 'vitest';
import { findTarget } from './call-kinds.ts';

describe('findTarget', () => {
  it('finds a path, a URI, a table or a recipient', () => {
    expect(findTarget('read_file', { path: '/etc/hosts' })).toBe('/etc/hosts');
    expect(findTarget('fetch', { url: 'https://example.com' })).toBe('https://example.com');
    expect(findTarget('query', { limit: 3, table: 'users' })).toBe('users');
    expect(findTarget('send', { to: ['a@example.com', 'b@example.com'] })).toBe('a@example.com');
  });

  it('takes the destination of a move before its source', () => {
    expect(findTarget('move_file', { source: '/a', destination: '/b' })).toBe('/b');
  });

  it('falls back to the tool', () => {
    expect(findTarget('echo', { message: 'hi' })).toBe('echo');
    expect(findTarget('read', { path: 7, url: '', to: [] })).toBe('read');
    expect(findTarget('read', JSON.parse('{"constructor":1}'))).toBe('read');
  });

  it('cuts what is too long', () => {
    expect(findTarget('read', { path: 'x'.repeat(5000) })).toHaveLength(1024);
  });
});
