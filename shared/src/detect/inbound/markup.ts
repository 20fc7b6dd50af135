/**
 * What the form of a text shows: passages that a reader would not see (comments, hidden elements,
 * attributes), marks of a conversation's format, commands of a shell, paths of secrets.
 */
import { type Concept, conceptNumber } from './concepts.ts';

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

/** Attributes that nobody reads on the page. */
const ATTRIBUTES = ['alt="', "alt='", 'aria-label="', 'data-', 'content="', 'title="'];

/** Parts of many literals: a text without one holds none of them. */
const GATES = ['<', '[', '#', '---', '===', '***', 'system', 'end of', '_', '|', '(', '系', 'シ'];

/** The marks of a text, in no order. */
export function findMarks(text: string): Mark[] {
  const marks: Mark[] = [];
  const lower = text.toLowerCase();
  // Lower case may be longer in rare alphabets; a mark's place is then a little off.
  const present = new Set(GATES.filter((gate) => lower.includes(gate)));
  for (const [concept, literals] of LITERALS) {
    const number = conceptNumber(concept);
    for (const literal of literals) {
      const gate = GATES.find((part) => literal.includes(part));
      if (gate === undefined || present.has(gate)) addEach(lower, literal, number, marks);
    }
  }
  const hasMarkup = lower.includes('<') || lower.includes('[');
  if (hasMarkup) addHidden(lower, marks);
  return marks;
}

function addEach(text: string, literal: string, concept: number, marks: Mark[]): void {
  let found = 0;
  for (let at = text.indexOf(literal); at >= 0 && found < 8; at = text.indexOf(literal, at + 1)) {
    found += 1;
    // A word that goes on is another word: `ecosystem:`.
    const before = text.charCodeAt(at - 1);
    const isInWord = /^[a-z]/.test(literal) && before >= 97 && before <= 122;
    if (!isInWord) marks.push({ concept, start: at, end: at + literal.length });
    if (marks.length >= MAX_MARKS) return;
  }
}

function addHidden(lower: string, marks: Mark[]): void {
  const hidden = conceptNumber('hidden');
  const add = (start: number, end: number) => {
    if (marks.length < MAX_MARKS) {
      marks.push({ concept: hidden, start, end: Math.min(end, start + MAX_HIDDEN) });
    }
  };
  for (const [open, close] of FENCES) {
    let at = lower.indexOf(open);
    while (at >= 0 && marks.length < MAX_MARKS) {
      const end = lower.indexOf(close, at + open.length);
      add(at, end < 0 ? lower.length : end);
      at = end < 0 ? -1 : lower.indexOf(open, end);
    }
  }
  for (const style of HIDING) {
    const at = lower.indexOf(style);
    if (at < 0) continue;
    const opened = lower.indexOf('>', at);
    const end = opened < 0 ? -1 : lower.indexOf('</', opened);
    if (opened >= 0) add(opened, end < 0 ? lower.length : end);
  }
  for (const attribute of ATTRIBUTES) {
    let at = lower.indexOf(attribute);
    for (let found = 0; at >= 0 && found < 8; found += 1) {
      const from = at + attribute.length;
      const end = lower.indexOf(attribute.at(-1) === "'" ? "'" : '"', from + 1);
      add(from, end < 0 ? lower.length : end);
      at = lower.indexOf(attribute, from);
    }
  }
}
