import { describe, expect, it } from 'vitest';
import { createDlpFinder } from '../../../testing/test-dlp-finder.ts';

const { scanner, found } = createDlpFinder();

const SECRET = 'Kestrel27!blau';
const PARTS = ['Kest', 'rel27!', 'blau'];
const base64 = Buffer.from(SECRET).toString('base64');
const hex = Buffer.from(SECRET).toString('hex');
const quoted = PARTS.map((part) => `"${part}"`).join(', ');
const [start, end] = [base64.slice(0, 9), base64.slice(9)];

describe('a secret that a program puts together', () => {
  it.each([
    `"${PARTS.join('" + "')}"`,
    `'${PARTS.join("' . '")}'`,
    `"${PARTS.join('"\n    & "')}"`,
    `[${quoted}].join('')`,
    `[${quoted}].join("")`,
    `[${quoted}].join`,
    `''.join([${quoted}])`,
    `"".join((${quoted}))`,
    `implode('', [${quoted}])`,
    `String.join("", ${quoted})`,
    `strings.Join([]string{${quoted}}, "")`,
    `"Kest".concat("rel27!", "blau")`,
    `atob('${base64}')`,
    `base64.b64decode("${base64}").decode()`,
    `base64.urlsafe_b64decode("${start}" + "${end}").decode("utf-8")`,
    `base64_decode('${base64}')`,
    `Base64.decode64("${base64}")`,
    `Buffer.from('${base64}', 'base64').toString('utf8')`,
    `Buffer.from('${hex}', 'hex').toString()`,
    `bytes.fromhex("${hex}").decode()`,
    `string(hex.DecodeString("${hex}"))`,
    `codecs.decode("Xrfgery27!oynh", "rot13")`,
    `codecs.decode('Xrfgery27!oynh', 'rot_13')`,
    `str_rot13('Xrfgery27!oynh')`,
  ])('is found: %s', (expression) => {
    for (const text of [`admin_password = ${expression}`, `password = ${expression};\n`]) {
      expect(found(text)).toMatchObject([{ pattern: 'secret_assignment' }]);
    }
    expect(scanner.scanValue({ code: `password = ${expression}` })).toMatchObject([
      { pattern: 'secret_assignment' },
    ]);
  });

  it('is found with the expression around it', () => {
    const expression = `codecs.decode("Xrfgery27!oynh", "rot13")`;
    expect(found(`admin_password = ${expression}`)).toMatchObject([{ text: expression }]);
    expect(scanner.redactValue({ code: `password = [${quoted}].join('')` }).value).toEqual({
      code: 'password = [REDACTED:secret_assignment]',
    });
  });

  it.each([
    'password = "please " + "try again"',
    'const label = ["first", "second"].join("");',
    'const passwordLabel = ["new", "password"].join(" ");',
    'const password = atob("aGVsbG8gd29ybGQ=")',
    'const password = ["password", "input"].join("-")',
    'const secretName = "vault/" + "orders/" + "database"',
    'throw new Error("the password " + "is too short")',
    `token = base64.b64decode(request.headers["x-token"]).decode()`,
    'path = "".join(["docs/", "tokens/", "readme.md"])',
  ])('is none: %s', (text) => expect(found(text)).toEqual([]));

  it('takes time in proportion to its text', () => {
    const time = (text: string): number => {
      const from = process.cpuUsage();
      try {
        scanner.scanText(text);
      } catch {
        // Too much to read is told.
      }
      const { user, system } = process.cpuUsage(from);
      return (user + system) / 1000;
    };
    for (const unit of [
      '["a", ',
      '"a" + ',
      '"[" , ',
      "''.join([",
      'atob("a',
      '"seq": 1, "a": "',
      '\\\\\\"',
    ]) {
      time(unit.repeat(4_000));
      // The collector and other threads of the process only add to it.
      const least = (text: string) => Math.min(time(text), time(text), time(text));
      const [once = 0, manyTimes = 0] = [10_000, 80_000].map((count) => least(unit.repeat(count)));
      // Eight times the text: a square would take sixty-four times as long.
      expect([unit, manyTimes < 24 * once + 100]).toEqual([unit, true]);
    }
  });
});
