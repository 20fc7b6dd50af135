/**
 * What the form of a text shows: passages that a reader would not see (comments, hidden elements,
 * attributes), markers of a chat format, turns of a conversation, calls of tools, links that are to be
 * filled in, shell commands, paths of secrets.
 */
import { type Concept, conceptNumber } from './concepts.ts';
import { createLiteralFinder } from './literals.ts';
import { MARKUP } from './signs.ts';

export interface Mark {
  readonly concept: number;
  readonly start: number;
  readonly end: number;
}

const MAX_MARKS = 200;
const MAX_HIDDEN = 4_000;

/** Literal marks, in lower case. */
// biome-ignore format: a table
const LITERALS: readonly [Concept, readonly string[]][] = [
  [
    'marker',
    [
      '<|im_start|>', '<|im_end|>', '<|system|>', '<|user|>', '<|assistant|>', '<|endoftext|>',
      '<|end_of_text|>', '<|eot_id|>', '<|start_header_id|>', '<|begin_of_text|>', '[inst]', '[/inst]',
      '<<sys>>', '<</sys>>', '<start_of_turn>', '<end_of_turn>', '### system', '### instruction',
      '###system', '###instruction', '## system', '# system:', '<system>', '</system>', '<system_prompt>',
      '[system]', '[system ', '(system)', '{{system', '</user>', '</tool_result>', '</function_results>',
      '<assistant>', '</document>', '</context>', '</untrusted', '</data>', '<instructions>', '<important>',
      '"role":"system"', '"role": "system"', "'role': 'system'", "role: system", '<admin>', '[admin]',
      '--- end of', '---end', '=== end of', '*** end', 'end of document', 'end of tool output',
      'end of input', 'begin system', 'begin new instructions', '=== system', '--- system', '*** system',
      '<override>', '[override]', 'system:', '\nassistant:', '\nhuman:', '<|', '<tool_call', '<function_call',
      '<function=', '"tool_call"', '"function_call"', 'sudo:', '[end of', '<end of', '\ndeveloper:',
      '[developer', '<developer', '[assistant', '[internal]', '<internal', '系统：', '系统:', 'システム：', 'システム:',
      '[系统', '【系统', '【システム', '[システム',
    ],
  ],
  [
    'turn',
    [
      '"role":"user"', '"role": "user"', '"role":"assistant"', '"role": "assistant"', '"role":"tool"',
      '"role": "tool"', '"role":"developer"', '"role": "developer"', '"role\\":', '""role""', "'role': 'user'",
      'role: user', 'role: assistant', 'role: developer', 'role=user', 'rol=', 'user:', 'human:', 'assistant:',
      'agent:', 'agent>', 'user>', 'assistant>', '[user]', '<user', '|user|', '<human', '&lt;human', '&lt;user',
      '&lt;assistant', 'usuario:', 'usuario]', 'asistente:', 'asistente]', 'utilisateur :', 'utilisateur:',
      'nutzer:', 'benutzer:', 'assistent:', '用户：', '用户:', '用户|', '用户】', '助手：', '助手:', '助手|',
      'ユーザー:', 'ユーザー：', 'アシスタント:', 'アシスタント：', '/assistant', '/user', '_turn>',
    ],
  ],
  [
    'call',
    [
      'tool_call', 'tool_result', 'tool_response', 'tool_output', 'tool_use', 'function_call',
      'function_result', '"arguments":', '"arguments\\":', '""arguments""', '"args":', 'args=', 'next_action',
      'next_step', 'next_call', 'pending_call', 'tool>', 'tool:', 'tool=', 'tool name', '"tool":', '"call":',
      '"do":', 'agent_directive', 'assistant_plan', '_result>', '<observation', '<thought', 'user_ack',
      '"agent_', '_by_user', 'schritt:',
      'consigne_', 'confirmation=', 'approved:', 'approved=', 'approved":',
      '工具返回', '工具结果', '次の操作', '下一步',
    ],
  ],
  [
    'sensitive-path',
    ['~/.ssh', 'id_rsa', 'id_ed25519', '/etc/passwd', '/etc/shadow', '.env', '.aws/credentials', 'mcp.json',
      '.npmrc', '.netrc', '.git-credentials', '.kube/config', '.bash_history', 'authorized_keys', 'secrets.y'],
  ],
  ['shell', ['rm -rf', 'curl ', 'wget ', '| sh', '| bash', '|sh', '|bash', 'chmod ', 'sudo ', 'os.system(', 'eval(', 'nc -', 'powershell', 'base64 -d', 'drop table', '; --', 'subprocess']],
];

// biome-ignore format: a table
const HIDING = [
  'display:none', 'display: none', 'visibility:hidden', 'visibility: hidden', 'font-size:0', 'font-size: 0',
  'font-size:1px', 'font-size: 1px', 'opacity:0', 'opacity: 0', 'color:white', 'color: white', 'color:#fff',
  'color: #fff', 'left:-9999', 'left: -9999', 'hidden>', 'aria-hidden="true"', 'height:0', 'width:0',
  'text-indent:-', 'color:transparent', 'color: transparent',
];

const FENCES: readonly [string, string][] = [
  ['<!--', '-->'],
  ['[//]:', '\n'],
  ['[comment]:', '\n'],
  ['<template', '</template>'],
  ['<noscript', '</noscript>'],
];

/** Attributes that are not shown on the page. */
const ATTRIBUTES = ['alt="', "alt='", 'aria-label="', 'data-', 'content="', 'title="'];

const MARKS = LITERALS.flatMap(([concept, literals]) =>
  literals.map((literal) => ({ literal, concept: conceptNumber(concept) })),
);
const HIDDEN = conceptNumber('hidden');
const inPlainText = createLiteralFinder(MARKS.map(({ literal }) => literal));
/** Of a text with markup; the marks come first here too. */
const inMarkup = createLiteralFinder(
  MARKS.map(({ literal }) => literal),
  [...FENCES.map(([open]) => open), ...HIDING, ...ATTRIBUTES, '](http'],
);
const FIRST_FENCE = MARKS.length;
const FIRST_STYLE = FIRST_FENCE + FENCES.length;
const FIRST_ATTRIBUTE = FIRST_STYLE + HIDING.length;
const LINK = FIRST_ATTRIBUTE + ATTRIBUTES.length;

const NO_MARKS: Mark[] = [];

/**
 * The marks of a text, in any order.
 *
 * @param units of the text (../units.ts)
 * @param signs in the text (signs.ts)
 */
export function findMarks(text: string, units: Uint16Array, signs: number): Mark[] {
  const hasMarkup = (signs & MARKUP) !== 0;
  const present = (hasMarkup ? inMarkup : inPlainText).find(units, text.length);
  if (present === undefined) return NO_MARKS;
  const marks: Mark[] = [];
  // In rare alphabets lower case is longer; a mark's place is then slightly off.
  const lower = text.toLowerCase();
  for (const [at, { literal, concept }] of MARKS.entries()) {
    if (present[at] === 1) addEach(lower, literal, concept, marks);
  }
  if (hasMarkup) addHidden(lower, present, marks);
  if (hasMarkup && present[LINK] === 1) addSlots(text, marks);
  return marks;
}

/** A link or an image whose address has a value that the reader is to fill in. */
const SLOT =
  /\]\(https?:\/\/[^\s()]{1,120}[?&][\w.-]{1,30}=(?:[{<$[]|%7[bB]|\)|[A-Z]{2,20}_[A-Z_]{2,40})/g;
const SLOT_CONCEPT = conceptNumber('slot');

function addSlots(text: string, marks: Mark[]): void {
  for (const { 0: found, index } of text.matchAll(SLOT)) {
    if (marks.length >= MAX_MARKS) return;
    marks.push({ concept: SLOT_CONCEPT, start: index, end: index + found.length });
  }
}

function addEach(text: string, literal: string, concept: number, marks: Mark[]): void {
  let found = 0;
  for (let at = text.indexOf(literal); at >= 0 && found < 8; at = text.indexOf(literal, at + 1)) {
    found += 1;
    // A longer word is another word: `ecosystem:`.
    const isInWord = isSmallLetter(text.charCodeAt(at - 1)) && isSmallLetter(literal.charCodeAt(0));
    if (!isInWord) marks.push({ concept, start: at, end: at + literal.length });
    if (marks.length >= MAX_MARKS) return;
  }
}

const isSmallLetter = (unit: number): boolean => unit >= 97 && unit <= 122;

function addHidden(lower: string, present: Uint8Array, marks: Mark[]): void {
  const add = (start: number, end: number) => {
    if (marks.length < MAX_MARKS) {
      marks.push({ concept: HIDDEN, start, end: Math.min(end, start + MAX_HIDDEN) });
    }
  };
  for (const [index, [open, close]] of FENCES.entries()) {
    let at = present[FIRST_FENCE + index] === 1 ? lower.indexOf(open) : -1;
    while (at >= 0 && marks.length < MAX_MARKS) {
      const end = lower.indexOf(close, at + open.length);
      add(at, end < 0 ? lower.length : end);
      at = end < 0 ? -1 : lower.indexOf(open, end);
    }
  }
  for (const [index, style] of HIDING.entries()) {
    const at = present[FIRST_STYLE + index] === 1 ? lower.indexOf(style) : -1;
    if (at < 0) continue;
    const opened = lower.indexOf('>', at);
    const end = opened < 0 ? -1 : lower.indexOf('</', opened);
    if (opened >= 0) add(opened, end < 0 ? lower.length : end);
  }
  for (const [index, attribute] of ATTRIBUTES.entries()) {
    let at = present[FIRST_ATTRIBUTE + index] === 1 ? lower.indexOf(attribute) : -1;
    for (let found = 0; at >= 0 && found < 8; found += 1) {
      const from = at + attribute.length;
      const end = lower.indexOf(attribute.at(-1) === "'" ? "'" : '"', from + 1);
      add(from, end < 0 ? lower.length : end);
      at = lower.indexOf(attribute, from);
    }
  }
}
