/** Families of notations in which secrets and numbers of people occur, a few of each. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner
    .scanText(text)
    .map(({ pattern, start, length }) => [pattern, text.slice(start, start + length)]);

const PASS = 'Kestrel-moor99!';
const TOKEN = 'Q7x9Lm2Pz4Kd8Rt1Vb6Yc';

describe('a password', () => {
  it.each([
    // Options and places of commands.
    `docker login -u robot -p ${PASS} registry.corp.net`,
    `az login --service-principal -u app -p ${PASS} --tenant corp`,
    `mysqldump -h db1 -P 3306 -u root -p${PASS} shop`,
    `sqlcmd -S srv -U sa -P ${PASS}`,
    `mosquitto_pub -p 1883 -u dev \\\n  -P ${PASS} -t a`,
    `ldapsearch -x -D cn=admin -w ${PASS} -b dc=corp`,
    `smbclient //fs01/data -U 'svc%${PASS}'`,
    `sqlplus system/${PASS}@orcl`,
    `net user backupsvc ${PASS} /add`,
    `net use Z: \\\\fs01\\share /user:CORP\\bob ${PASS}`,
    `rabbitmqctl add_user shop ${PASS}`,
    `keytool -genkey -keystore k.jks -storepass ${PASS}`,
    `echo 'deploy:${PASS}' | chpasswd`,
    `echo ${PASS} | sudo -S systemctl restart nginx`,
    `cryptsetup open /dev/sdb1 data <<< "${PASS}"`,
    // Statements.
    `ALTER USER scott IDENTIFIED BY "${PASS}";`,
    `CREATE USER shop IDENTIFIED WITH caching_sha2_password BY '${PASS}';`,
    `CREATE ROLE shop LOGIN PASSWORD '${PASS}';`,
    `CREATE LOGIN shop WITH PASSWORD = N'${PASS}';`,
    `Driver={SQL};Uid=shop;Pwd={${PASS}};Encrypt=yes`,
    // Configuration.
    `requirepass ${PASS}`,
    `ldap_bind_pw = ${PASS}`,
    `snmp-server community ${PASS} RO`,
    `enable secret 0 ${PASS}`,
    `user alice on >${PASS} ~* +@all`,
    `<property name="hibernate.connection.password">${PASS}</property>`,
    `<setting name="SmtpPassword" serializeAs="String">\n  <value>${PASS}</value>`,
    `variable "db_password" {\n  type      = string\n  sensitive = true\n  default   = "${PASS}"\n}`,
    `{"content":"DB_HOST=db\\nDB_PASSWORD=${PASS}\\nDB_POOL=5"}`,
    `{"content":"A=1\\npwd=${PASS}\\nB=2"}`,
    // Calls.
    `ConvertTo-SecureString "${PASS}" -AsPlainText -Force`,
    `new NetworkCredential("bob", "${PASS}")`,
    `DriverManager.getConnection(url, "bob", "${PASS}");`,
    `builder.setPassword("${PASS}")`,
    `set_password(user, "${PASS}")`,
    `reset_password('bob', '${PASS}')`,
    `define('DB_PASSWORD', '${PASS}');`,
    `db = process.env.DB_PASSWORD || '${PASS}'`,
    `const DbPassword string = "${PASS}"`,
    `EXEC sp_addlogin 'bob', '${PASS}'`,
    // Sentences.
    `wpa psk: ${PASS}`,
    `SSID: Office-5G, key: ${PASS}`,
    `login admin:${PASS} for grafana`,
    `${PASS} is the new admin password`,
    `you can use ${PASS} as the password`,
    `mot de passe provisoire : ${PASS}`,
    `my password for the portal has been ${PASS} since May`,
    `credentials for the staging shop are admin / ${PASS}`,
    `log in as admin with ${PASS}`,
    `Het wachtwoord van de mailbox is gewijzigd in ${PASS}`,
    `Hasło do panelu zmienione na ${PASS}`,
    `La contraseña del wifi ahora es ${PASS}`,
    `código de acceso: ${PASS}`,
    `Freischaltcode für das Portal: ${PASS}`,
  ])('in %s', (text) => expect(found(text)).toContainEqual(['secret_assignment', PASS]));

  it.each([
    ['with words for the user', 'The garage opens with the PIN 4471', '4471'],
    ['in an answer', "what's the admin pw again?\nMaria: Kestrel99xQ7z", 'Kestrel99xQ7z'],
    ['of one case and signs', 'dsn "dbname=shop password=WyGfbpEgFMkG-Dxm"', 'WyGfbpEgFMkG-Dxm'],
  ])('%s', (_, text, value) => expect(found(text)).toContainEqual(['secret_assignment', value]));
});

describe('a token', () => {
  it.each([
    `wandb login --relogin ${TOKEN}`,
    `client.setAccessToken("${TOKEN}")`,
    `clé_api = ${TOKEN}`,
    `api-schluessel: ${TOKEN}`,
    `chave_api="${TOKEN}"`,
    `AZURE_DEVOPS_EXT_PAT=${TOKEN}`,
    `Cookie: theme=dark; session=${TOKEN}`,
    `curl "https://api.corp.net/v1?key=${TOKEN}"`,
    `git clone https://${TOKEN}@git.corp.net/x.git`,
    `401 (credential used: ${TOKEN})`,
    `<string name="maps_api_key">${TOKEN}</string>`,
    `<key>apiToken</key>\n<string>${TOKEN}</string>`,
  ])('in %s', (text) => expect(found(text)).toContainEqual(['secret_assignment', TOKEN]));
});

describe('keys with a mark', () => {
  it.each([
    [
      'messaging_service_key',
      `https://api.telegram.org/bot7908039503:AA${TOKEN}${TOKEN.slice(0, 12)}/getMe`,
    ],
    ['platform_token', `DEPLOY_AUTH: bkua_${'0123456789abcdef7e3c'.repeat(2)}`],
    ['aws_access_key_id', 'sb.append("AKIAQ7XM").append("PLR2ZT4KWNBD")'],
    ['git_host_token', `"ghp_${TOKEN}".concat("${TOKEN}")`],
  ])('%s in %s', (pattern, text) => expect(found(text).map(([name]) => name)).toContain(pattern));
});

describe('people', () => {
  it.each([
    ['phone_number', 'Telefoonnummer: 020-7834461', '020-7834461'],
    ['phone_number', 'Mobil: 030 9936441-94', '030 9936441-94'],
    ['phone_number', 'Merci de me rappeler au 04 82 98 24 61', '04 82 98 24 61'],
    ['phone_number', 'Emergency contact (mother): 020 7707 3461', '020 7707 3461'],
    ['phone_number', 'sms status=failed to=+4917552604061 code=3', '+4917552604061'],
    ['date_of_birth', 'La paciente nació el 9 de julio de 1991', '9 de julio de 1991'],
    ['date_of_birth', 'née à Lyon le 9 mars 1991', '9 mars 1991'],
    ['date_of_birth', 'urodziła się 9 marca 1991 r.', '9 marca 1991'],
    ['national_id', 'PPS number 1234567FA for our hire in Cork', '1234567FA'],
    ['national_id', 'id;nazwisko;nr_ewid\n1;Nowak;44051401458', '44051401458'],
    ['national_id', 'Pracownik Jan Nowak, 44051401458, magazyn', '44051401458'],
    ['national_id', 'identificatie 1112.22.333 – Zorg', '1112.22.333'],
    ['record_number', 'pt Nowak, med rec # H61148761', 'H61148761'],
    ['record_number', "Numéro d'adhérent : 22811361", '22811361'],
    ['record_number', 'Die Versichertennummer steht auf der Karte: X238113561', 'X238113561'],
    ['iban', ':86:020?00LOHN?31DE89370400440532013000?32X', 'DE89370400440532013000'],
    ['iban', 'exports/statement_DE89370400440532013000.pdf', 'DE89370400440532013000'],
    ['payment_card', 'slips/visa_4539578763621486.pdf', '4539578763621486'],
    ['us_ssn', 'forms/applicant_536-22-8471.pdf', '536-22-8471'],
    ['email_address', 'mail: jan.nowak AT firma [dot] pl', 'jan.nowak AT firma [dot] pl'],
  ])('%s in %s', (pattern, text, value) => expect(found(text)).toContainEqual([pattern, value]));
});

describe('nothing', () => {
  it.each([
    'docker login -u $USER -p "$DOCKER_PASSWORD"',
    'ssh login@host -p 2222',
    'vault login -method=oidc role=dev',
    'curl -u "$USER:$PASS" https://corp.net',
    'the row is identified by `algorithm_2`',
    "CREATE USER shop IDENTIFIED BY '<password>';",
    'requirepass $REDIS_PASSWORD',
    'snmp-server community public RO',
    'ConvertTo-SecureString $env:PW -AsPlainText -Force',
    'app.connect("signal", "handler2")',
    'printf "%s:%s" $u $p | chpasswd',
    'variable "db_password" {\n  default = ""\n}',
    'arn:aws:secretsmanager:eu-west-1:946168604286:secret:prod/db-password-AbC12d',
    'Public-Key-Pins: pin-sha256="YRv958Tt4m6PC/6NAyWQ+BUGxIHbYjHPI+8ZJRNoFkY="',
    'password := os.Getenv("PGPASSWORD")\nif password == "" {\n\tlog.Fatal("missing")\n}',
    'DATABASE_URL=postgres://user:<password>@localhost:5432/db',
    'aws_access_key_id = AKIAIOSFODNN7EXAMPLE',
    'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'acct ref 8248 5382 6086 8412 is our internal ledger key',
    'pedido 292191681 entregado sin incidencias',
    'matricule machine 33-7467-294, atelier nord',
    'what is the password policy?\nJan: at least 12 characters, rotated yearly',
    'login is admin / see the vault',
    'DB_PASSWORD alone: master',
    '["password", "firstname"]',
    'GET /v1?key=my-setting-number-2',
    '<Login password={props.value1} user="a" />',
    // Names of expressions and of patterns for files.
    String.raw`DATE_PAT = "\\d{4}-\\d{2}"`,
    'url-pat: ^https?://[a-z0-9.]+/',
    'file_pat = "*.min2.js"',
    'search_pat = "foo|bar2|baz"',
    'user,token\n17,wonderlandia',
    'token: KLmnOPqrSTuv',
    'api_key: <your-key>',
    'export STRIPE_SECRET_KEY="sk_test_..."',
    'STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx',
    'token: ghp_xxxx',
  ])('in %s', (text) => expect(found(text)).toEqual([]));
});
