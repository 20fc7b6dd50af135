import { describe, expect, it } from 'vitest';
import { createDlpFinder } from '../../../testing/test-dlp-finder.ts';

const { found } = createDlpFinder();

const LANGUAGES: Readonly<Record<string, string>> = {
  English: 'zero one two three four five six seven eight nine',
  German: 'null eins zwei drei vier fünf sechs sieben acht neun',
  French: 'zéro un deux trois quatre cinq six sept huit neuf',
  Spanish: 'cero uno dos tres cuatro cinco seis siete ocho nueve',
  Italian: 'zero uno due tre quattro cinque sei sette otto nove',
  Portuguese: 'zero um dois três quatro cinco seis sete oito nove',
  Dutch: 'nul een twee drie vier vijf zes zeven acht negen',
};

const spelled = (digits: string, words: string, between: string): string =>
  [...digits].map((sign) => words.split(' ')[Number(sign)] ?? sign).join(between);

describe.each(Object.entries(LANGUAGES))('digits as words in %s', (_, words) => {
  it.each([' ', ', ', ' / ', '-', '. '])('are a card, separated by "%s"', (between) => {
    const card = spelled('4532015112830366', words, between);
    expect(found(`Karte ${card}, 12/27`)).toEqual([{ pattern: 'payment_card', text: card }]);
  });

  it('are an IBAN with its letters', () => {
    const iban = spelled('DE89370400440532013000', words, ' ');
    expect(found(`Konto ${iban}.`)).toMatchObject([{ pattern: 'iban' }]);
  });

  it('are a number behind its label', () => {
    expect(found(`SSN ${spelled('219099999', words, ' ')}`)).toMatchObject([{ pattern: 'us_ssn' }]);
    expect(found(`BSN: ${spelled('111222333', words, ', ')}.`)).toMatchObject([
      { pattern: 'national_id' },
    ]);
  });
});

describe('digits as words', () => {
  it('may be doubled, and begin or end with a letter', () => {
    expect(
      found(
        'card four five three two zero one five double one two eight three zero three double six',
      ),
    ).toMatchObject([{ pattern: 'payment_card' }]);
    expect(found('HKID A, one, two, three, four, five, six, three')).toMatchObject([
      { pattern: 'national_id' },
    ]);
    expect(found('DNI uno, dos, tres, cuatro, cinco, seis, siete, ocho, Z.')).toMatchObject([
      { pattern: 'national_id' },
    ]);
  });

  it.each([
    ['SSN: two one nine dash zero nine dash nine nine nine eight', 'us_ssn'],
    [
      'Karte vier fünf drei neun Bindestrich eins vier acht acht Bindestrich null drei vier drei Bindestrich sechs vier sechs sieben',
      'payment_card',
    ],
    [
      'carte quatre cinq trois neuf tiret un quatre huit huit tiret zéro trois quatre trois tiret six quatre six sept',
      'payment_card',
    ],
    [
      'karta cztery pięć trzy dziewięć kreska jeden cztery osiem osiem kreska zero trzy cztery trzy kreska sześć cztery sześć siedem',
      'payment_card',
    ],
    [
      'call me: plus four nine one five one two three four five six seven eight nine',
      'phone_number',
    ],
    ['IBAN: DE89|3704|0044|0532|0130|00', 'iban'],
    ['PIN: four seven one one', 'secret_assignment'],
    ['手机号是一五一二三四五六七八九', 'phone_number'],
    ['手机 一 三 八 一 二 三 四 五 六 七 八', 'phone_number'],
    ['身份证号 一 一 〇 一 〇 五 一 九 四 九 一 二 三 一 〇 〇 二 X', 'national_id'],
    ['卡号：四 五 三 九 一 四 八 八 〇 三 四 三 六 四 六 七', 'payment_card'],
    ['卡号：四五三九 一四八八 〇三四三 六四六七', 'payment_card'],
    ['银行卡号 六 二 二 二 〇 二 六 八 一 二 四 九 六 七 九 〇 二 七 〇', 'bank_account'],
    ['カード番号は四　五　三　九　一　四　八　八　〇　三　四　三　六　四　六　七', 'payment_card'],
  ])('are read with the signs between them: %s', (text, pattern) => {
    expect(found(text)).toMatchObject([{ pattern }]);
  });

  it('are read beside a label in another alphabet', () => {
    const words = spelled('094259634', LANGUAGES.English ?? '', ' ');
    expect(found(`ΑΦΜ πελάτη: ${words}`)).toMatchObject([{ pattern: 'national_id' }]);
  });

  it.each([
    'count with me: one two three four five six seven eight nine',
    'Uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez.',
    'quatre, cinq, six, sept, huit, neuf: le compte y est',
    'It happened one, two, three times; four of five were fixed in six or seven days.',
    'count with me: one dash two dash three dash four',
    'The score was three dash two, then four dash one; five of six won.',
    'Chapters one, two, three, four, five, six, seven, eight, nine, ten, dot, slash.',
    'The PIN is one, two or three characters long',
    'PIN layout: one two three four five six seven eight nine',
    'bir iki üç dört beş altı yedi sekiz dokuz on',
    '一二三四五六七八九十',
    '电话：一、二、三、四、五、六、七、八、九',
    '一 二 三 四 五 六 七 八 九 十',
    '第一第二第三，三三两两，五六七八个人',
    'card game: one two three four five six seven eight nine one two three',
  ])('are no finding: %s', (text) => expect(found(text)).toEqual([]));
});

describe('words of another alphabet', () => {
  it.each([
    ['Пароль от сервера', 'Kestrel27!blau'],
    ['κωδικός', 'Kestrel27!blau'],
  ])('stay labels where a value is decoded: %s', (label, value) => {
    const encoded = Buffer.from(value).toString('base64');
    expect(found(`${label}: ${encoded}`)).toMatchObject([{ text: encoded }]);
  });

  it('are read as Latin ones where they stand for these', () => {
    expect(found('раsswоrd: Kestrel27!blau')).toMatchObject([{ text: 'Kestrel27!blau' }]);
    expect(found('АКІАQ7MZ3HTXW5RBNC2V')).toMatchObject([{ pattern: 'aws_access_key_id' }]);
  });
});
