/**
 * The half that measures. Its carriers, languages, formats and disguises are independent of the
 * tuning half; a class of misses may be learned from, its individual texts may not.
 */
import { ALNUM, DIGITS, Draw, HEX, LOWER, UPPER, withIbanCheck, withLuhn } from './draw.ts';
import type { LabelledText } from './labelled-text.ts';

type Make = (draw: Draw) => string;
const fill = (carrier: string, value: string): string => carrier.replaceAll('§', () => value);
const groups = (text: string, size: number, sign: string): string =>
  (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(sign);

const amexOrOther: Make = (draw) => {
  const amex = withLuhn(`37${draw.digits(12)}`);
  const other = withLuhn(
    `${draw.one(['45', '54', '52', '2720', '65', '3530'])}${draw.digits(14)}`.slice(0, 15),
  );
  return draw.one([
    amex,
    other,
    `${amex.slice(0, 4)} ${amex.slice(4, 10)} ${amex.slice(10)}`,
    groups(other, 4, '.'),
  ]);
};
const account: Make = (draw) =>
  draw.one([
    withIbanCheck('ES', draw.digits(20)),
    groups(withIbanCheck('IT', `${draw.chars(UPPER, 1)}${draw.digits(22)}`), 4, ' '),
    withIbanCheck('CH', draw.digits(17)).toLowerCase(),
    groups(withIbanCheck('PL', draw.digits(24)), 4, '-'),
  ]);
const key: Make = (draw) =>
  draw.one([
    `ASIA${draw.chars('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
    `github_pat_${draw.chars(ALNUM, 22)}_${draw.chars(ALNUM, 59)}`,
    `hvs.${draw.chars(ALNUM, 24)}`,
    `dop_v1_${draw.chars(HEX, 64)}`,
    `rk_live_${draw.chars(ALNUM, 30)}`,
    `pypi-AgEIcHlwaS5vcmc${draw.chars(ALNUM, 60)}`,
    `hf_${draw.chars(LOWER + UPPER, 34)}`,
    `xoxp-${draw.digits(11)}-${draw.digits(11)}-${draw.chars(HEX, 32)}`,
    `${draw.digits(10)}:AA${draw.chars(ALNUM, 33)}`,
    `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(`{"sub":"${draw.digits(8)}"}`).toString('base64url')}.${draw.chars(ALNUM, 43)}`,
    `shpat_${draw.chars(HEX, 32)}`,
    `glsa_${draw.chars(ALNUM, 32)}_${draw.chars(HEX, 8)}`,
  ]);

const bytes = (text: string): number[] => [...Buffer.from(text)];
const CLOAKS: Readonly<Record<string, (text: string, draw: Draw) => string>> = {
  b64: (text) => `data: ${Buffer.from(`the value is ${text}`).toString('base64')}`,
  b64_lines: (text) =>
    groups(Buffer.from(`${'padding '.repeat(12)}${text}`).toString('base64'), 64, '\n'),
  hex_upper: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  hex_pairs: (text) =>
    bytes(text)
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join(' '),
  hex_escapes: (text) =>
    bytes(text)
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  percent_some: (text) =>
    [...text].map((c, i) => (i % 3 === 1 ? `%${Buffer.from(c).toString('hex')}` : c)).join(''),
  entities_hex: (text) =>
    [...text].map((c) => `&#x${(c.codePointAt(0) ?? 0).toString(16)};`).join(''),
  backwards: (text) => [...text].reverse().join(''),
  b64_of_backwards: (text) => Buffer.from([...text].reverse().join('')).toString('base64'),
  soft_hyphens: (text) => groups(text, 3, '\u00ad'),
  joiners: (text) => groups(text, 2, '\u2060'),
  wide_digits: (text) => text.replace(/\d/g, (d) => String.fromCharCode(0xff10 + Number(d))),
  bold_digits: (text) => text.replace(/\d/g, (d) => String.fromCodePoint(0x1d7ce + Number(d))),
  greek: (text) =>
    text.replace(/[AEHIKMNOPTX]/g, (l) => 'ΑΕΗΙΚΜΝΟΡΤΧ'['AEHIKMNOPTX'.indexOf(l)] ?? l),
  dots: (text) => [...text.replace(/[ .-]/g, '')].join('.'),
  blanks: (text) => [...text.replace(/[ .-]/g, '')].join(' '),
  list: (text) => JSON.stringify(text.match(/.{1,5}/g)),
  plus: (text, draw) =>
    `'${text.slice(0, 4 + draw.int(4))}' +\n  '${text.slice(4 + draw.int(1))}'`.replace(
      /^'(.*)' \+\n {2}'.*'$/s,
      (_all, first: string) => `'${first}' +\n  '${text.slice(first.length)}'`,
    ),
  columns: (text) => `a,b\n"${text.slice(0, 8)}","${text.slice(8)}"`,
};

const secretWord: Make = (draw) =>
  draw.one([
    `${draw.one(['Regen', 'verano', 'Liverpool', 'kawa'])}${draw.one(['_', '?', '*', '&'])}${draw.digits(4)}`,
    draw.chars(`${ALNUM}$^&*(`, 11),
    `${draw.digits(2)}${draw.chars(LOWER, 6)}${draw.chars(UPPER, 2)}`,
    `P@ssw0rd${draw.digits(2)}`,
  ]);
const born: Make = (draw) => {
  const year = 1935 + draw.int(75);
  const day = 1 + draw.int(27);
  const month = draw.int(12);
  const names = [
    'January',
    'Feb',
    'March',
    'Apr',
    'May',
    'June',
    'July',
    'Aug',
    'Sept',
    'October',
    'Nov',
    'December',
  ];
  const pad = (n: number) => String(n).padStart(2, '0');
  return draw.one([
    `${names[month]} ${day}, ${year}`,
    `${day}${day === 1 ? 'st' : 'th'} ${names[month]} ${year}`,
    `${year}/${pad(month + 1)}/${pad(day)}`,
    `${day}-${month + 1}-${year}`,
    `${year}${pad(month + 1)}${pad(day)}`,
    `${pad(day)}/${pad(month + 1)}/${String(year).slice(2)}`,
  ]);
};

interface Sort {
  readonly name: string;
  readonly make: Make;
  readonly in: readonly string[];
  readonly cloaked?: boolean;
}

const NEUTRAL = [
  'Re: your request\n\n§\n\nKind regards',
  'log: received §',
  'curl -d "x=§" https://api.service.io/v1',
  '- item: §',
  'Bitte verwende § dafür.',
  '<v>§</v>',
  "print('§')",
];
const SORTS: readonly Sort[] = [
  {
    name: 'card',
    make: amexOrOther,
    in: ['Tarjeta: §', 'cc=§&exp=04/29', 'Meine Kreditkarte § ist abgelaufen', ...NEUTRAL],
    cloaked: true,
  },
  {
    name: 'iban',
    make: account,
    in: ['Kontoverbindung §', 'beneficiary account: §', ...NEUTRAL],
    cloaked: true,
  },
  { name: 'key', make: key, in: NEUTRAL, cloaked: true },
  {
    name: 'ssn',
    make: (d) =>
      `${d.one(['123', '456', '221', '514'])}${d.one(['-', ' '])}`.slice(0, 3) +
      fill('-§-', String(11 + d.int(80))) +
      d.digits(3) +
      '7',
    in: ['Social Security: §', 'SSN on file is §', 'ssn=§', '| ssn | § |'],
    cloaked: true,
  },
  {
    name: 'insurance_number',
    make: (d) =>
      groups(
        `${d.one(['AB', 'JK', 'SX', 'PE'])}${d.digits(6)}${d.one([...'ABCD'])}`,
        2,
        d.one(['', ' ', '-']),
      ),
    in: ['NI Number: §', 'Employee NINO §', 'nat_insurance_no: "§"', 'HMRC reference for her is §'],
    cloaked: true,
  },
  {
    name: 'password',
    make: secretWord,
    in: [
      'Login: anna / Passwort: §',
      'passwd: §',
      '"pass": "§"',
      "$db['password'] = '§';",
      'SMTP_PASS="§"',
      'spring.datasource.password=§',
      'senha: §',
      'wachtwoord: §',
      'hasło: §',
      'пароль: §',
      '密码：§',
      'パスワードは§です',
      'use the password § to log in',
      'My new password is now §, please keep it.',
      '<add key="DbPassword" value="§" />',
      '- name: MYSQL_ROOT_PASSWORD\n  value: §',
      'sshpass -p § ssh root@10.0.0.1',
      'Server=sql1;Database=x;User Id=sa;Password=§;',
      'net use Z: \\\\srv\\share /user:anna password §',
      'username\tpassword\nanna\t§',
      '| user | password |\n|---|---|\n| anna | § |',
      "ALTER USER anna WITH PASSWORD '§';",
      'conn = connect(user="a", password="§")',
      'PIN: 4821 and password: §',
      'wifi password: §',
      '{\\"password\\": \\"§\\"}',
    ],
  },
  {
    name: 'secret',
    make: (d) =>
      d.one([
        d.chars(ALNUM, 20),
        d.chars(HEX, 32),
        `${d.chars(ALNUM, 16)}-${d.chars(ALNUM, 12)}`,
        d.chars(`${ALNUM}_-`, 43),
      ]),
    in: [
      'client_secret: "§"',
      'X-API-Key: §',
      'apiSecret = §',
      'ACCESS_TOKEN="§"',
      'jwt.secret=§',
      'encryption_key: §',
      'token => "§",',
      'https://api.service.io/v1/items?api_key=§',
      '<apiKey>§</apiKey>',
      'my api key is §',
      'signing_secret = b"§"',
      'auth_token § (do not share)',
      'SECRET_KEY = "§"',
      "webhookSecret: '§',",
    ],
  },
  {
    name: 'birth',
    make: born,
    in: [
      'Birth date: §',
      'patient (DOB §) was seen today',
      'birthday: §',
      'geb. § in Kiel',
      'Fecha de nacimiento: §',
      'data di nascita §',
      '<birthDate>§</birthDate>',
      'born §',
      '生年月日: §',
      'id;name;birth_date\n7;Anna;§\n',
      'Her D.O.B. is §',
      '"date_of_birth": "§"',
      "INSERT INTO people (name, dob) VALUES ('Anna', '§');",
    ],
  },
  {
    name: 'record',
    make: (d) =>
      d.one([`${d.digits(8)}`, `P${d.digits(7)}`, groups(d.digits(9), 3, '-'), `MR${d.digits(6)}`]),
    in: [
      'MRN# §',
      'Medical Record No. §',
      'patient_id=§',
      'Numéro de dossier : §',
      'Aktenzeichen: §',
      'account number § was closed',
      'Chart number: §',
      'member id: §',
      'Policy No: §',
      '"patientId": "§"',
      'número de historia clínica §',
      'NHS number: §',
      'employee id §',
    ],
  },
  {
    name: 'email',
    make: (d) =>
      `${d.one(['sofia', 'piotr', 'm.tanaka'])}${d.digits(2)}@${d.one(['outlook.com', 'gmx.net', 'orange.fr'])}`,
    in: ['reach me under §', 'cc: §', '"mail":"§"'],
  },
  {
    name: 'phone',
    make: (d) =>
      d.one([
        `+49 ${d.one(['151', '170'])} ${d.digits(7)}`,
        `+1 (415) ${200 + d.int(300)}-${d.digits(3)}7`,
        `0${d.one(['171', '30'])} ${d.digits(7)}`,
      ]),
    in: ['call me: §', 'Telefon §', 'mobile § after six'],
  },
  {
    name: 'key_block',
    make: (d) => groups(d.chars(`${ALNUM}/+`, 256), 64, '\n'),
    in: [
      '-----BEGIN OPENSSH PRIVATE KEY-----\n§\n-----END OPENSSH PRIVATE KEY-----',
      'key: |\n-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----',
      '-----BEGIN EC PRIVATE KEY-----\n§',
    ],
  },
  {
    name: 'url_password',
    make: (d) => d.chars(ALNUM, 12),
    in: [
      'redis://default:§@cache:6379/0',
      'amqp://svc:§@mq.corp:5672',
      'git clone https://anna:§@git.corp.net/x.git',
      'jdbc:mysql://db/x?user=a&password=§',
    ],
  },
];

const BENIGN: readonly [string, Make][] = [
  ['hash', (d) => `md5 ${d.chars(HEX, 32)}  archive-${d.int(9)}.tar.gz`],
  ['hash', (d) => `ETag: "${d.chars(HEX, 32)}-${d.int(30)}"`],
  ['hash', (d) => `image: registry.service.io/app@sha256:${d.chars(HEX, 64)}`],
  [
    'uuid',
    (d) =>
      `GET /v1/users/${d.chars(HEX, 8)}-${d.chars(HEX, 4)}-4${d.chars(HEX, 3)}-8${d.chars(HEX, 3)}-${d.chars(HEX, 12)} 200 12ms`,
  ],
  ['code', (d) => `const total = items.reduce((sum, item) => sum + item.price * ${d.int(90)}, 0);`],
  [
    'code',
    (d) =>
      d.one([
        'if (!token) throw new Error("missing token");',
        'password: z.string().min(12),',
        'self.password = password',
        'def get_secret(name: str) -> str:',
        'let apiKey = try Keychain.read("service")',
        'private_key = load_pem_private_key(data, password=None)',
        'token = request.headers.get("Authorization")',
        '<input type="password" name="password" placeholder="Password">',
        'password_hash VARCHAR(255) NOT NULL',
        'passwordField.setText("");',
        'secretName: db-credentials',
        'api_key: "{{ .Values.apiKey }}"',
        'key={item.id}',
        'const { password, ...rest } = user;',
        'resetPasswordToken: { type: String, default: null }',
        'csrf_token: {% csrf_token %}',
      ]),
  ],
  [
    'placeholder',
    (d) =>
      d.one([
        'api_key = "<YOUR-API-KEY>"',
        'sk-xxxxxxxxxxxxxxxxxxxxxxxx',
        'ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
        'password: "changeme"',
        'DATABASE_URL=postgres://user:password@localhost:5432/db',
        'Authorization: Bearer <token>',
        'SECRET_KEY=replace-me',
        'password = "********"',
        'token: $TOKEN',
        'apiKey: process.env.API_KEY',
        'AWS_SECRET_ACCESS_KEY=$\u007bAWS_SECRET}',
        'SSN: XXX-XX-XXXX',
        'Card: **** **** **** 4242',
        'DOB: YYYY-MM-DD',
        'password: [hidden]',
        'Authorization: Bearer {access_token}',
        'IBAN: DE00 0000 0000 0000 0000 00',
      ]),
  ],
  [
    'docs',
    (d) =>
      d.one([
        'Passwords are stored as salted hashes and never logged.',
        'A bearer token is sent in the Authorization header of each request.',
        'The patient record system will be down on Sunday from 10 to 12.',
        'To rotate the API key, open the settings and press Rotate.',
        'Das Passwort muss mindestens acht Zeichen haben.',
        'Le mot de passe est obligatoire.',
        'Your date of birth is used to check your age only.',
        'National Insurance numbers have two letters, six digits and a letter.',
        'An IBAN has up to 34 characters; the third and fourth are check digits.',
        'La contraseña no es correcta, inténtelo de nuevo.',
        'The customer called about account settings on 12 March 2024.',
        'Two-factor codes expire after 30 seconds.',
        'Passport control took two hours.',
        'Please bring your insurance card and ID.',
        'The private key never leaves the device.',
        'Password is required. Token is invalid or expired.',
        'The password is case sensitive and at least 10 characters long.',
      ]),
  ],
  [
    'number',
    (d) =>
      `Invoice ${d.digits(6)} of 03/04/2024: EUR ${d.digits(4)}.${d.digits(2)}, due in 30 days`,
  ],
  [
    'number',
    (d) => `order_id=${d.digits(10)} sku=${d.chars(UPPER, 3)}-${d.digits(5)} qty=${d.int(9)}`,
  ],
  [
    'number',
    (d) =>
      `{"ts": 17${d.digits(11)}, "seq": ${d.digits(7)}, "lat": 52.${d.digits(6)}, "lon": 13.${d.digits(6)}}`,
  ],
  ['number', (d) => `EAN 40${d.digits(11)}, serial ${d.chars(UPPER + DIGITS, 12)}`],
  [
    'number',
    (d) =>
      `v${d.int(9)}.${d.int(30)}.${d.int(9)} built 20240${1 + d.int(9)}1${d.int(9)}.${d.int(9)} on node-${d.int(20)}`,
  ],
  [
    'near_miss',
    (d) =>
      `card ${groups(String(BigInt(withLuhn(`4${d.digits(14)}`)) ^ 1n), 4, ' ')} has a wrong check digit`,
  ],
  [
    'near_miss',
    (d) => {
      const right = withIbanCheck('DE', d.digits(18));
      return `IBAN ${right.slice(0, -1)}${(Number(right.at(-1)) + 1) % 10} was rejected`;
    },
  ],
  [
    'encoded',
    (d) =>
      `"icon": "${Buffer.from(Array.from({ length: 90 }, () => d.int(256))).toString('base64')}"`,
  ],
  [
    'encoded',
    (d) => `msg=${Buffer.from(`Hello ${d.chars(LOWER, 6)}, lunch at noon?`).toString('base64')}`,
  ],
  [
    'encoded',
    (d) => `https://shop.io/search?q=red%20shoes%2C%20size%20${d.int(50)}&page=${d.int(9)}`,
  ],
  [
    'log',
    (d) =>
      `2024-05-0${1 + d.int(9)} 12:0${d.int(9)}:11.${d.digits(3)} [worker-${d.int(9)}] INFO c.e.Job - done in ${d.int(9000)} ms, heap=${d.digits(9)}`,
  ],
  [
    'mail',
    (d) =>
      `Hi ${d.one(['Tom', 'Aiko', 'Lena'])},\n\nthe draft is attached. Could you review section ${d.int(9)} by Friday?\n\nThanks`,
  ],
  [
    'csv',
    (d) =>
      `id,name,total\n${d.digits(4)},Blue lamp,${d.int(99)}.90\n${d.digits(4)},Desk,${d.int(400)}.00`,
  ],
];

/** @param size number of texts; three of five are positive */
export function testHalf(size: number, seed = 20_260): LabelledText[] {
  const draw = new Draw(seed);
  const cloaks = Object.keys(CLOAKS);
  return Array.from({ length: size }, (_, i): LabelledText => {
    if (i % 5 > 2) {
      const [name, make] = draw.one(BENIGN);
      return { text: make(draw), kind: 'negative', category: `benign/${name}` };
    }
    const sort = draw.one(SORTS);
    const value = sort.make(draw);
    const cloak = sort.cloaked && draw.int(5) > 1 ? draw.one(cloaks) : undefined;
    const written = cloak ? (CLOAKS[cloak]?.(value, draw) ?? value) : value;
    const text = fill(draw.one(sort.in), written);
    return { text, kind: 'positive', category: cloak ? `disguised/${cloak}` : sort.name };
  });
}
