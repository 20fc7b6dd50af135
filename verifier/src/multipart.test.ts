import { describe, expect, it } from 'vitest';
import { parseMultipart } from './multipart.ts';

const NAMED = 'form-data; name="package"; filename="a"';

/** A form of one part. */
const form = (head: string, content = 'abc') => `--b\r\n${head}\r\n\r\n${content}\r\n--b--\r\n`;
const disposed = (disposition: string) => form(`Content-Disposition: ${disposition}`);

/** @returns of each part its name, whether it is a file, and its content */
function read(body: string, contentType = 'multipart/form-data; boundary=b') {
  const parts = parseMultipart(Buffer.from(body), contentType);
  return parts?.map(({ name, isFile, bytes }) => [name, isFile, Buffer.from(bytes).toString()]);
}

describe('a form is read', () => {
  const FILE = [['package', true, 'abc']];

  it.each([
    "form-data; name=package; filename=evidence.tar.gz; filename*=utf-8''evidence.tar.gz",
    `form-data; name="package"; filename="a.gz"; filename*=utf-8''a.gz`,
    `form-data; name="package"; filename*=utf-8''a.gz`,
    'form-data; filename="a.gz"; name="package"',
    'form-data;name="package";filename="a.gz"',
    'Form-Data ; NAME = "package" ; filename = a.gz ;',
    'form-data; name="package"; filename="a \\"b\\"; name=c \\\\"',
    'form-data; name="package";\r\n filename="a.gz"',
    'form-data; name="package"; filename=März.gz',
    'form-data; name="package"; filename="a\\"',
    'form-data; name="package"; filename="C:\\a\\\\\\" ; filename*=utf-8\'\'a',
  ])('whose part is %s', (disposition) => {
    expect(read(disposed(disposition))).toEqual(FILE);
  });

  it.each([
    'multipart/form-data;boundary="b"',
    'Multipart/Form-Data; charset=utf-8; Boundary=b',
    'multipart/form-data; x="; boundary=z"; boundary=b;',
  ])('whose type is %s', (type) => {
    expect(read(disposed(NAMED), type)).toEqual(FILE);
  });

  it.each([
    [
      'with blanks behind a delimiter',
      `--b \t\r\nContent-Disposition: ${NAMED}\r\n\r\nabc\r\n--b--`,
    ],
    ['with text before and behind it', `To be\r\nignored\r\n${disposed(NAMED)}also\r\n--b\r\n`],
    ['with other headers', form(`Content-Type: text/plain\r\ncontent-disposition:${NAMED}\r\nX`)],
  ])('%s', (_what, body) => {
    expect(read(body)).toEqual(FILE);
  });

  it('with several parts, one empty, one in base64, and line ends in one', () => {
    const part = (disposition: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${content}\r\n`;
    const body = [
      part('name="package"; filename=""', '\r\n\r\n--a\r\n\r\n'),
      part('name=package_url', '\r\n'),
      part('name="c"', 'Content-Transfer-Encoding: BASE64\r\n\r\nYWJj'),
      '--b--',
    ].join('');
    expect(read(body)).toEqual([
      ['package', true, '\r\n--a\r\n\r\n'],
      ['package_url', false, ''],
      ['c', false, 'abc'],
    ]);
  });

  it('with a head of up to 16 KiB', () => {
    const head = (length: number) => `Content-Disposition: ${NAMED}; x="`.padEnd(length - 1, 'a');
    const most = 16 * 1024 - '\r\n\r\n\r\n'.length;
    expect(read(form(`${head(most)}"`))).toEqual(FILE);
    expect(read(form(`${head(most + 1)}"`))).toBeUndefined();
  });
});

describe('no form is', () => {
  it.each([
    ['another type', disposed(NAMED), 'multipart/form-data2; boundary=b'],
    ['one with two boundaries', disposed(NAMED), 'multipart/form-data; boundary=b; boundary=b'],
    ['one with an empty boundary', disposed(NAMED), 'multipart/form-data; boundary=""'],
    ['one with an unended boundary', disposed(NAMED), 'multipart/form-data; boundary="b'],
    [
      'one with a long boundary',
      disposed(NAMED),
      `multipart/form-data; boundary=${'b'.repeat(201)}`,
    ],
    ['nothing', '', undefined],
    ['one without an end', disposed(NAMED).replace('--b--', '--b'), undefined],
    ['one that is cut off', disposed(NAMED).slice(0, -8), undefined],
    ['one with a delimiter in its content', disposed(NAMED).replace('abc', '\r\n--bc'), undefined],
    ['a part without a blank line', `--b\r\nContent-Disposition: ${NAMED}\r\n--b--`, undefined],
    ['a part without a header', '--b\r\n\r\nabc\r\n--b--', undefined],
    [
      'a part with two dispositions',
      disposed(`${NAMED}\r\nContent-Disposition: ${NAMED}`),
      undefined,
    ],
    ['a part of another disposition', disposed('attachment; name="package"'), undefined],
    ['a part without a name', disposed('form-data; filename="a"'), undefined],
    ['a part with two names', disposed(`${NAMED}; name=b`), undefined],
    ['a part with an unended name', disposed('form-data; name="package'), undefined],
    ['a part with text behind its name', disposed('form-data; name="package" x'), undefined],
    ['a part with text behind a `\\"`', disposed('form-data; name="package"; x="\\"y'), undefined],
  ])('%s', (_what, body, type) => {
    expect(read(body, type)).toBeUndefined();
  });
});

it('reads what is built to be tried often, each character once', () => {
  // Where two ways match the same text, there are too many ways to end.
  for (const text of [' ', ';', '; ', '\\', '\\"', 'a', 'a ', 'a="\\', '=', '"']) {
    expect(read(disposed(`form-data; x="${text.repeat(15_000 / text.length)}`))).toBeUndefined();
    expect(read(disposed(`form-data; ${text.repeat(15_000 / text.length)}!`))).toBeUndefined();
  }
});
