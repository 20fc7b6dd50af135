import { describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
const found = (text: string) =>
  scanner
    .scanText(text)
    .map(({ pattern, start, length }) => [pattern, text.slice(start, start + length)]);

describe('values beside what announces them', () => {
  it.each([
    ['Login: svc_backup / Qm7!tzRk29', 'secret_assignment', 'Qm7!tzRk29'],
    ['user / password: deploy / h4Rbor!Nine', 'secret_assignment', 'h4Rbor!Nine'],
    ['root:Fr0stb1te!@10.2.3.4', 'secret_assignment', 'Fr0stb1te!'],
    ['ssh deploy:Gr8tWave77@db-3.corp.net', 'secret_assignment', 'Gr8tWave77'],
    [
      'password: copper lantern drizzle harbor',
      'secret_assignment',
      'copper lantern drizzle harbor',
    ],
    [
      'passphrase is velvet-canyon-thimble-rocket',
      'secret_assignment',
      'velvet-canyon-thimble-rocket',
    ],
    ['birthdate=840312', 'date_of_birth', '840312'],
    ['student id: 20231234', 'record_number', '20231234'],
  ])('%s', (text, pattern, value) => expect(found(text)).toContainEqual([pattern, value]));

  it.each([
    'admin / user roles',
    'user/password authentication',
    'client_id / client_secret',
    'image: repo:tag@sha256:9f86d081884c7d65',
    'password: choose four random words',
    'The password is kept with the team lead',
    'version=840312, birthdate=999999',
    'Born to Run was released on August 25, 1975',
    'The company was born on April 1, 1976',
    'Record number of visitors: 1,234,567',
    'file number 3 of 12000',
    'customer number grew by 20000',
    'tests pass: 1204 total',
    '"credential-provider": "^3.972.94"',
    "if (typeof this.password === 'function')",
    'password: decodeText(url.password)',
    '| token | where |\n| `/api/v1/agents` | `offset`, `limit` (50) |',
    'Master key | AES-256-GCM',
    'Do not pass them to `path.join`, or pin `jackspeak`',
  ])('%s: nothing', (text) => expect(found(text)).toEqual([]));
});
