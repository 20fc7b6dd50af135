import { expect, it } from 'vitest';
import type { Alert } from '../../alerts/alert.ts';
import type { ClassifiedCall } from '../call/calls.ts';
import { createBlastRadiusAlert } from './blast-radius-alert.ts';

it('names no member that is named by a path or an address', () => {
  const raised: Alert[] = [];
  const alert = createBlastRadiusAlert(
    (_tenantId, one) => raised.push(one),
    () => undefined,
  );
  const call = {
    id: 'e',
    caller: { tenantId: 't' },
    agent: { id: 'a' },
    ask: { serverId: 'files', name: 'write_files' },
    rules: null,
  } as ClassifiedCall;
  const finding = { rule: 'protected_file', verdict: 'deny', message: 'm' } as const;
  for (const place of ['/files/~1srv~1anna~1a.key', '/to/anna@harborline.example', '/paths/7']) {
    alert(call, [{ ...finding, place }]);
  }
  expect(raised.map(({ details }) => details?.place)).toEqual(['/files/*', '/to/*', '/paths/7']);
});
