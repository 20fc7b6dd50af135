import { StartError } from '@governance/shared/process/start-error';
import { expect, it } from 'vitest';
import { describeDatabaseFailure } from './database-failure.ts';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

it.each([
  [withCode('ECONNREFUSED'), /nothing listens there; check host and port in DATABASE_URL,/],
  [withCode('28P01'), /wrong; correct the user or the password in DATABASE_URL$/],
  [withCode('3D000'), /does not exist; create it .*, or name another one in DATABASE_URL$/],
  [withCode('SELF_SIGNED_CERT_IN_CHAIN'), /not trusted; name the file .* in DATABASE_URL$/],
  [
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    /needs a password; add the password to DATABASE_URL$/,
  ],
])('names the setting to change: %s', (error, sentence) => {
  const described = describeDatabaseFailure(error, 'DATABASE_URL');
  expect(described).toBeInstanceOf(StartError);
  expect(described).toMatchObject({ message: expect.stringMatching(sentence), cause: error });
});

it('leaves an error alone that no setting can fix', () => {
  const error = withCode('42P01');
  expect(describeDatabaseFailure(error, 'DATABASE_URL')).toBe(error);
});
