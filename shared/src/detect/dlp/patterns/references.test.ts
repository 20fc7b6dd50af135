import { describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('what refers to a secret', () => {
  it.each([
    'spring.datasource.password=@Microsoft.KeyVault(SecretUri=https://eu-7.vault.azure.net/secrets/main9/)',
    'DB_PASSWORD=@Microsoft.KeyVault(VaultName=kv-eu-7;SecretName=dbpw9)',
    'secret_arn = "arn:aws:secretsmanager:eu-central-1:243854504581:secret:stage/db-x9Q2r7"',
    'vault kv get -field=password secret/data/stage/mail/db7',
    'vault kv get -field password kv/stage/mail7',
    'vault read -field=token auth/stage/role/db7',
    'gcloud secrets versions access latest --secret=db-password-7',
    'password: op://Infra7/db-prod/password9',
    'token = "sm://projects/my-proj7/api-token-3"',
    'password: secret://prod/db7',
    'API_KEY=projects/my-proj-7/secrets/api-key-3/versions/12',
    'env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-creds7\n      key: pw1',
    'password: *db7_default',
    'prod: { password: *db7_default, user: app }',
    'spring.mail.password=%%MAIL_PASSWORD_2%%',
    '"API_TOKEN":"[unkenntlich gemacht]"',
    '"API_TOKEN":"[caviardé]"',
    '{"attributes":{"db_password":"(sensitive value)"}}',
    'password: ████████',
    "The credential 'harbor-push' is kept by the platform team",
    'Delete the credentials "aws-prod-2" when you are done',
    'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
  ])('is no finding: %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  it.each([
    ['Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZTk=', 'QWxhZGRpbjpvcGVuIHNlc2FtZTk='],
    ['vault kv put -field=password=Tr4vel!Nine9', 'Tr4vel!Nine9'],
    ['password: *Tr4vel#9z', 'Tr4vel#9z'],
    ['password: *Tr4vel9z', 'Tr4vel9z'],
    ['password=*kestrel_27', 'kestrel_27'],
    ['a:\n  password: &dbPw7 Kestrel27!x\nb:\n  password: *dbPw7\n', 'Kestrel27!x'],
    ['password: projects/Tr4vel!Nine9', 'projects/Tr4vel!Nine9'],
    ['password: %%Tr4vel!Nine', '%%Tr4vel!Nine'],
    ['"db_password":"(Tr4vel!Nine9)"', '(Tr4vel!Nine9)'],
    ["the credential 'Tr4vel!Nine9' is new", 'Tr4vel!Nine9'],
    ["the password 'harbor-push' is new", 'harbor-push'],
    ['arn:aws:rds:eu-1:7:db:password=Tr4vel!Nine9', 'Tr4vel!Nine9'],
  ])('does not hide one: %s', (text, value) => {
    expect(found(text)).toEqual([value]);
  });

  it('is not any label of three letters before a number', () => {
    expect(found('BGC: 483920')).toEqual([]);
    expect(found('zl cnffjbeq: Xrfgery27!k')).toHaveLength(1);
  });
});
