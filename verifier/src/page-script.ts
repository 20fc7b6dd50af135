/**
 * The script of the verification page, for browsers: it sorts dropped files, sends the form, and
 * lays out the plain-text report. Everything from a package is in that report, escaped; nothing is
 * ever interpreted as HTML. Proven by `npm run page`.
 */
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { TRUST_ANCHOR_FORMAT } from '@governance/shared/evidence/trust-anchor';
import { MAX_ANCHOR_LENGTH } from './trust.ts';

export const PAGE_SCRIPT = `
'use strict';
const byId = (id) => document.getElementById(id);
const [form, zone, file, anchor, anchorFile] =
  ['form', 'zone', 'package', 'anchor', 'anchor-file'].map(byId);
const [button, chosen, verdict, meaning, result] =
  ['verify', 'chosen', 'verdict', 'meaning', 'result'].map(byId);
const [facts, rows, report] = ['facts', 'checks', 'report'].map(byId);
const LIMIT = ${VOLUME_LIMITS.packedBytes};

const MEANINGS = {
  VERIFIED: 'The records are those that were signed, unchanged and in their order.',
  NOT_VERIFIED: 'At least one check failed. Do not rely on this package.',
  UNREADABLE: 'This is no evidence package, or it is damaged, or larger than this service takes.',
  INCONCLUSIVE: 'Nothing is wrong in itself, but nothing that you gave vouches for it:',
};
const TRUSTS = {
  independent: 'Nothing but your trust anchor was relied upon.',
  'issuer-anchored': 'No anchor was given; this service knows the keys of the issuer.',
  'self-asserted': 'give the trust anchor that you have from the tenant.',
};
const NEWER = 'the package does not lead to the anchor. Have it exported anew, or give an older anchor.';

function showStatus(status, text, field) {
  verdict.className = status;
  verdict.textContent = text;
  for (const one of [file, anchor]) {
    if (one === field) one.setAttribute('aria-invalid', 'true');
    else one.removeAttribute('aria-invalid');
  }
}
function clear() {
  showStatus('', '');
  meaning.textContent = '';
  result.hidden = true;
}
const sizeOf = (bytes) => bytes < 1048576
  ? Math.ceil(bytes / 1024) + ' KiB' : (Math.ceil(bytes / 104857.6) / 10).toFixed(1) + ' MiB';

async function isAnchor(one) {
  if (one.size > ${MAX_ANCHOR_LENGTH}) return false;
  try {
    return JSON.parse(await one.text()).format === '${TRUST_ANCHOR_FORMAT}';
  } catch {
    return false;
  }
}
async function readAnchor(one) {
  if (one.size > ${MAX_ANCHOR_LENGTH}) return showStatus('PROBLEM', 'This is no trust anchor: it is too large.', anchor);
  anchor.value = await one.text();
  describe();
}
function describe() {
  const [one] = file.files;
  const named = anchor.value.trim() === '' ? 'no trust anchor' : 'a trust anchor';
  chosen.textContent = one
    ? one.name + ' (' + sizeOf(one.size) + '), ' + named + '.'
    : 'No package yet, ' + named + '.';
}
async function take(files) {
  clear();
  const packages = [];
  for (const one of files) {
    if (await isAnchor(one)) await readAnchor(one);
    else packages.push(one);
  }
  if (packages.length > 1) return showStatus('PROBLEM', 'Drop one package at a time. Volumes are verified one by one here, together by the command.', file);
  if (packages.length === 1) {
    const list = new DataTransfer();
    list.items.add(packages[0]);
    file.files = list.files;
  }
  describe();
}

// Anywhere: a file that misses the field would otherwise take the place of the page.
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    const isOver = name === 'dragenter' || name === 'dragover';
    zone.classList.toggle('over', isOver);
    if (name === 'drop') void take(event.dataTransfer.files);
  });
}
file.addEventListener('change', () => { clear(); describe(); });
anchor.addEventListener('input', () => { clear(); describe(); });
anchorFile.addEventListener('change', () => {
  clear();
  if (anchorFile.files.length > 0) void readAnchor(anchorFile.files[0]);
  anchorFile.value = '';
});

function cell(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}
function show(text) {
  const [first, second, ...lines] = text.trimEnd().split('\\n');
  const outcome = first.slice('VERDICT: '.length);
  const trust = second.slice('INDEPENDENCE: '.length).split(' ')[0];
  const checks = [];
  facts.replaceChildren();
  for (const line of [second, ...lines]) {
    const check = /^\\[(PASS|FAIL|SKIP|WARN)\\] (\\S+) ?(.*)$/.exec(line);
    if (check) checks.push(check.slice(1));
    else for (const part of line.split(/  (?=[A-Z])/)) {
      const at = part.indexOf(': ');
      if (at > 0) facts.append(cell('dt', part.slice(0, at)), cell('dd', part.slice(at + 2)));
    }
  }
  rows.replaceChildren(...checks.map(([status, name, detail]) => {
    const row = document.createElement('tr');
    const head = cell('th', '');
    head.scope = 'row';
    const at = name.indexOf('.') + 1;
    head.append(name.slice(0, at), document.createElement('wbr'), name.slice(at));
    row.append(cell('td', status, status), head, cell('td', detail));
    return row;
  }));
  report.textContent = text;
  const failed = checks.filter(([status]) => status === 'FAIL').map(([, name]) => name);
  showStatus(outcome, outcome + (failed.length > 0 ? ': ' + failed.join(', ') : ''));
  const more = outcome === 'VERIFIED' ? TRUSTS[trust]
    : outcome !== 'INCONCLUSIVE' ? '' : trust === 'self-asserted' ? TRUSTS[trust] : NEWER;
  meaning.textContent = MEANINGS[outcome] + ' ' + more;
  result.hidden = false;
}
function showProblem(text) {
  const { detail } = JSON.parse(text);
  if (!Array.isArray(detail)) return showStatus('PROBLEM', detail);
  const fields = { package: [file, 'The package '], trust_anchor: [anchor, 'The trust anchor '] };
  const [field, name] = fields[detail[0].loc[1]] || [undefined, 'The request '];
  showStatus('PROBLEM', detail.map(({ msg, loc }) => name + msg + (loc.length > 2 ? ' (' + loc.slice(2).join('.') + ')' : '')).join('; ') + '.', field);
}

let isBusy = false;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (isBusy) return;
  clear();
  const [one] = file.files;
  if (one.size > LIMIT) {
    return showStatus('PROBLEM', 'The package has ' + sizeOf(one.size) + '. This service takes up to 64 MiB: use the command for larger ones.', file);
  }
  isBusy = true;
  // Not disabled: that would take the focus away from whoever pressed it.
  button.setAttribute('aria-disabled', 'true');
  showStatus('BUSY', 'Verifying\\u2026');
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new FormData(form) });
    const text = await answer.text();
    if (answer.ok) show(text);
    else showProblem(text);
  } catch {
    showStatus('PROBLEM', 'The service did not answer. Try again.');
  }
  isBusy = false;
  button.removeAttribute('aria-disabled');
});
describe();
`;
