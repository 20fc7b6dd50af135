/** Values and near misses as travel, hospitals, programs and pages write them. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner
    .scanText(text)
    .map(({ pattern, start, length }) => `${pattern} ${text.slice(start, start + length)}`);

describe('finds', () => {
  it.each([
    ['String jdbcPwd = "Zw3ibr0t&Kaffee"; // TODO', 'secret_assignment Zw3ibr0t&Kaffee'],
    ["userPw = 'Zw3ibr0t&Kaffee'", 'secret_assignment Zw3ibr0t&Kaffee'],
    ['user <b>svc_kiosk</b>, password <b>Tulpen#63</b></p>', 'secret_assignment Tulpen#63'],
    ['the password is <code>Tulpen#63</code> now', 'secret_assignment Tulpen#63'],
    ['Password: **Tulpen#63** (until Friday)', 'secret_assignment Tulpen#63'],
    ['password **Tulpen#63**', 'secret_assignment Tulpen#63'],
    ['Ingrid Solberg, f. dato 14.03.1957. Henvist fra fastlege', 'date_of_birth 14.03.1957'],
    ['1) OKONKWO/ADAEZE MS – DOB 09JUL88', 'date_of_birth 09JUL88'],
    ["first_nm = 'YVETTE' AND birth_dt = DATE '1949-02-27'", 'date_of_birth 1949-02-27'],
    ['born_on: 1949-02-27', 'date_of_birth 1949-02-27'],
    ["SET badge_no = 'E-703681', cost_center = '4410'", 'record_number E-703681'],
    ['<pan>9792005094894328</pan>', 'payment_card 9792005094894328'],
    ['Yeni numara: 0532 714 60 83 (Cevdet Usta)', 'phone_number 0532 714 60 83'],
    ['Elo 5067 3323 5035 9986 val 05/30, duas diárias', 'payment_card 5067 3323 5035 9986'],
    ['{"applicant":"Ngaire","ird":"87-419-266"}', 'national_id 87-419-266'],
    [
      'a frase-passe do cofre: "cobalto majólica andorinha 1755 forno". Apaga este mail.',
      'secret_assignment cobalto majólica andorinha 1755 forno',
    ],
    ['User Id=sa;Pwd=CQQtiVduaJ!;" />', 'secret_assignment CQQtiVduaJ!'],
    ['予約確認：山本様　090-2793-6381　4名', 'phone_number 090-2793-6381'],
    ['Contato do síndico: (11) 92809-1324, só à tarde', 'phone_number (11) 92809-1324'],
    ['KV-Nr. M003019834 · Arzt: Dr. Lohmann', 'record_number M003019834'],
    [
      'new ethers.Wallet("0x8c92af7a48cea47304aeefce355516e3bc8438b0706131ad195eda1942369084")',
      'crypto_wallet_secret 0x8c92af7a48cea47304aeefce355516e3bc8438b0706131ad195eda1942369084',
    ],
    ['my social is 354-61-2059 ok', 'us_ssn 354-61-2059'],
    ['Date of birth of the insured: 12.03.1980', 'date_of_birth 12.03.1980'],
    ['12.03.1980\ndate of birth', 'date_of_birth 12.03.1980'],
    ['Orange County office 714-538-0164', 'phone_number 714-538-0164'],
    ['department: 212-736-3188', 'phone_number 212-736-3188'],
    ['**Password:**Tulpen#63 until Friday', 'secret_assignment Tulpen#63'],
    ['escribe a maria.lopez@ejemplo.es', 'email_address maria.lopez@ejemplo.es'],
    [
      'new ClientSecretCredential(tenant, app, "SXp5Q~gzFbwJB7M7R5sS6VmGvF7E.eyhcFSQjjtu")',
      'azure_secret SXp5Q~gzFbwJB7M7R5sS6VmGvF7E.eyhcFSQjjtu',
    ],
    ['Contact noodgeval: vader, 06-48217735 (liever appen)', 'phone_number 06-48217735'],
    ['NINO: QQ 12 34 56 C', 'uk_nino QQ 12 34 56 C'],
    ["from 'anna.schmidt@firma.de'", 'email_address anna.schmidt@firma.de'],
  ])('%j', (text, value) => expect(found(text)).toEqual([value]));

  it('each cell of a column whose name is an abbreviation', () => {
    const rows =
      '| Achterberg | Sjoerd | 07-08-1962 | O+ |\n| van Loon | Hetty | 30-12-1939 | A- |';
    expect(found(`| Surname | Given | D.O.B. | Blood |\n|---|---|---|---|\n${rows}`)).toEqual([
      'date_of_birth 07-08-1962',
      'date_of_birth 30-12-1939',
    ]);
  });
});

it.each([
  'code freeze 14.03.2025, GA 04.04.2025. The last LTS was born out of the 2019 rewrite.',
  '3 retries, backoff 250-500-1000 ms, circuit open 12:04:31',
  'Firmware 503.271.0184 flashed to unit 971-428-8820-B',
  'Follow us, @nordic_beans@mastodon.social on the fediverse',
  'Part NS 41 88 20 C supersedes NS 41 88 19 B; torque to 22 Nm.',
  'Ärende 2025-0619-4471 är avslutat.',
  "clone = 'git@gitlab.com:weave/pattern-lib.git'; mail = 'support@firma.de'",
  'X-Cache-Key: p2bgmw4dny9yxy9k6n518hueu1lynj45ftsztmjz',
  'Bottled: 2020-03-30\nBorn on the slopes of Mount Etna, first released 11.10.2021.',
  'Född ur ett medborgarinitiativ 1938, invigd på Lucia 1944-12-13.',
  'Corresponding author: first.author@university.example',
  'Resistors 1%: 110-22-3300 Ω pack, 470-10-0680 Ω pack; drawer C.',
  'password = fromMaybe "" <$> lookupEnv "PGPASSWORD"',
  'add_argument("--password", help="of the database")\nadd_argument("--api-key", dest="api_key2")',
  '# the password\nlogin(dest="api_key2")',
  'two letters, six digits and a letter, for example in the format QQ 12 34 56 C.',
  'let api_key = std::env::var("MAPS_API_KEY")?;\n Ok(Config { api_key, secret: Secret::new(rpassword::prompt_password("Secret: ")?) })',
  'mean=+49.17612, sd=0.03345; 555.0134 kPa',
  'Stichtag ist der 30.06.2020 (Geburtsjahrgang 2019/2020), Anmeldung bis 15.11.2025.',
  'Formato: nombre@dominio.tld. Se aceptan letras y números antes de la arroba.',
  'MSDS rev. ES12 0049 B: flash point 41 °C',
  '172.16.254.10–99 phones (VoIP), 172.16.254.100 printer; mask 255.255.255.0',
  'job/sk-live-migration-28460 Complete',
  'cron: "30 4 1 1 *"   # yearly, DOB report = Daily Operations Brief, 1 Jan 04:30',
  'Court of Appeal, Case No. 21-1846, 598 U.S. 471 (2023)',
  'Section 14.35.1 describes byte ranges 500-600-0999.',
  'the number 078-05-1120 was printed in wallets',
  "passwordResetSent: 'pwreset:sent', apiKeyUsage: 'apikey:usage:daily',",
  'token: "user:token:v2"',
  '//nas-05.kanzlei.lan/akten /mnt/akten cifs credentials=/root/.smb,vers=3.0 0 0',
  'the password <em>never</em> leaves, and <b>must</b> be long',
  '"password": {"type": "string", "format": "password", "minLength": 12},\n"otp": {"type": "string", "pattern": "^[0-9]{6}$"}',
])('does not report %j', (text) => expect(found(text)).toEqual([]));

it('reads the bytes of WebAssembly', () => {
  const bytes = [...Buffer.from('postgres://mead:Hydromel!60@mead.io/db')];
  const escaped = bytes.map((byte) => `\\${byte.toString(16)}`).join('');
  expect(found(`(data (i32.const 1024) "${escaped}")`)).toEqual([`connection_string ${escaped}`]);
});

it('reads no end of a run of letters as the name of a password', () => {
  expect(found('"digest": "Q2hhbmdlIHRoaXMgbGF0ZXIgaWYgeW91IHdhbnQtoPw==", "size": 4096')).toEqual(
    [],
  );
});
