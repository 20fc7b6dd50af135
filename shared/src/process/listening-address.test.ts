import { expect, it } from 'vitest';
import { defaultPublicUrl } from './listening-address.ts';

it.each([
  ['0.0.0.0', 8080, 'http://localhost:8080'],
  ['127.0.0.1', 80, 'http://localhost'],
  ['Gov.Example', 0, 'http://gov.example:0'],
  ['fd00::1', 8080, 'http://[fd00::1]:8080'],
  ['no host', 8080, 'http://no host:8080'],
])('a service that listens at %s, port %i, is reached at %s', (host, port, url) => {
  expect(defaultPublicUrl(host, port)).toBe(url);
});
