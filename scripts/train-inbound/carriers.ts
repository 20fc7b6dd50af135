/** Carriers and disguises of texts: for training only. */
import type { Random } from './random.ts';

type Carrier = (sentences: readonly string[], random: Random) => string;

const CARRIERS: readonly Carrier[] = [
  (sentences) => sentences.join(' '),
  (sentences) => sentences.join('\n'),
  (sentences) => sentences.join('\n\n'),
  (sentences) => `# Notes\n\n${sentences.map((sentence) => `- ${sentence}`).join('\n')}\n`,
  (sentences) => `<html><body>${sentences.map((one) => `<p>${one}</p>`).join('')}</body></html>`,
  (sentences) => sentences.map((one) => `// ${one}`).join('\n'),
  (sentences) => `/* ${sentences.join('\n * ')} */\nexport const size = 4;`,
  (sentences) => JSON.stringify({ id: 17, title: 'Report', description: sentences.join(' ') }),
  (sentences) => JSON.stringify(sentences.map((text, id) => ({ id, text }))),
  (sentences) => sentences.map((one, at) => `2026-03-0${at + 1} 10:1${at} INFO ${one}`).join('\n'),
  (sentences) => `Ticket 8812 (open)\nReporter: j.doe\nDescription: ${sentences.join(' ')}`,
  (sentences) =>
    `id,name,comment\n${sentences.map((one, at) => `${at},n${at},"${one}"`).join('\n')}`,
  (sentences) => `BEGIN:VEVENT\nSUMMARY:Planning\nDESCRIPTION:${sentences.join(' ')}\nEND:VEVENT`,
  (sentences) => `From: a@b.example\nSubject: Update\n\n${sentences.join(' ')}\n`,
  (sentences) => sentences.map((one, at) => `| ${at} | ${one} |`).join('\n'),
  (sentences) => sentences.map((one, at) => `${at + 1}. ${one}`).join('\n'),
];

const HIDINGS: readonly ((text: string) => string)[] = [
  (text) => `<p>Welcome</p><!-- ${text} -->`,
  (text) => `<div style="display:none">${text}</div><p>Contact us</p>`,
  (text) => `<img src="x.png" alt="${text}">`,
  (text) => `[//]: # (${text})\n# Title`,
  (text) => Buffer.from(text).toString('base64'),
  (text) => `data: ${Buffer.from(text).toString('base64')} end`,
  (text) => Buffer.from(text).toString('hex'),
  (text) => [...text].reverse().join(''),
  (text) => [...text].join('\u200b'),
  (text) => encodeURIComponent(text),
  (text) => text.replace(/[a-z]/g, (letter) => `&#${letter.charCodeAt(0)};`),
  (text) => text.replaceAll('o', '0').replaceAll('i', '1').replaceAll('e', '3'),
];

export const carry = (sentences: readonly string[], random: Random): string =>
  random.pick(CARRIERS)(sentences, random);

export const disguise = (text: string, random: Random): string => random.pick(HIDINGS)(text);
