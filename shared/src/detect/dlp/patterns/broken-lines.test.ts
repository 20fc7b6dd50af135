import { describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
const found = (text: string) =>
  scanner
    .scanText(text)
    .map(({ pattern, start, length }) => [pattern, text.slice(start, start + length)]);

describe('values on two lines', () => {
  it.each([
    ['Please pay to DE89 3704 00\n 44 0532 0130 00 by May', 'iban'],
    ['conto NO93 8601\n 1117 947 a partire', 'iban'],
    ['to: GB29NWBK601613\r\n    31926819', 'iban'],
    ["values (1, '4111 11\n11 1111 1111', 3)", 'payment_card'],
    ["values (1, '3782 822\n463 10005', 3)", 'payment_card'],
    ["insert into t (id, pan) values (1, '3652 741\n903 2859')", 'payment_card'],
    ['card: 37828224\n  6310005', 'payment_card'],
    ['> my card is 4539 1488\n> 0343 6467', 'payment_card'],
    ['>> card: 4539 1488 034\n>> 3 6467\n>> thanks', 'payment_card'],
    ['> pay to DE89 3704 0044\n> 0532 0130 00 by May', 'iban'],
    [
      'url = "https://hooks.slack.com/services/T04QX7LM\n  2PZ/B05RK8NW4JD/qW3eR5tY7uI9oP1aS2dF4gH6"',
      'slack_token',
    ],
  ])('are found: %s', (text, pattern) => {
    expect(found(text).map(([name]) => name)).toEqual([pattern]);
  });

  it('are found in JSON within a text', () => {
    const text = JSON.stringify({ text: 'conto NO93 8601\n 1117 947 a partire' });
    expect(found(text).map(([name]) => name)).toEqual(['iban']);
  });

  it.each([
    'ids\n41111111\n11111111\n52345678',
    '41111111\n11111111',
    'Please pay to DE89 3704 00\n 44 0532 0130 01 by May',
    '> 4539 1488\n> 0343 6467',
    '> card ids:\n> 4539 1488\n> 0343 6468',
    'pay\n2041 4111 11\n11 1111 1111',
    'https://hooks.slack.com/services/\nand so on',
    'https://hooks.slack.com/services/TXXXXXXX\nXXX/BXXXXXXXXXX/XXXXXXXXXXXXXXXXXXXXXXXX',
  ])('are not two lines of another kind: %s', (text) => {
    expect(found(text)).toEqual([]);
  });
});
