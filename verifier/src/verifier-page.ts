/** The page of the verification service: one file, nothing from elsewhere, no script but its own. */
import { createHash } from 'node:crypto';
import { VERIFIER_VERSION } from './version.ts';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input[type=file], textarea { display: block; width: 100%; box-sizing: border-box; margin-top: .25rem; }
textarea { min-height: 6rem; font-family: ui-monospace, monospace; }
fieldset { border: 2px dashed GrayText; border-radius: .5rem; padding: 1rem; }
fieldset.over { border-color: Highlight; }
button { margin-top: 1rem; padding: .5rem 1.5rem; font: inherit; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
#verdict { font-size: 1.5rem; font-weight: 700; margin: 1.5rem 0 .5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid GrayText; border-radius: .5rem; padding: 1rem; }
`;

const SCRIPT = `
'use strict';
const form = document.querySelector('form');
const field = document.querySelector('fieldset');
const file = document.querySelector('#package');
const verdict = document.querySelector('#verdict');
const report = document.querySelector('#report');
const button = document.querySelector('button');
for (const name of ['dragover', 'dragleave', 'drop']) {
  field.addEventListener(name, (event) => {
    event.preventDefault();
    field.classList.toggle('over', name === 'dragover');
    if (name === 'drop' && event.dataTransfer.files.length > 0) file.files = event.dataTransfer.files;
  });
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  verdict.textContent = 'Verifying\\u2026';
  report.hidden = true;
  try {
    const answer = await fetch('/api/v1/verify.txt', { method: 'POST', body: new FormData(form) });
    const text = await answer.text();
    if (answer.ok) {
      verdict.textContent = text.slice(0, text.indexOf('\\n'));
      report.textContent = text;
      report.hidden = false;
    } else {
      const { detail } = JSON.parse(text);
      verdict.textContent = Array.isArray(detail)
        ? detail.map(({ loc, msg }) => loc.slice(1).join('.') + ' ' + msg).join('; ')
        : detail;
    }
  } catch {
    verdict.textContent = 'The service did not answer.';
  }
  button.disabled = false;
});
`;

export const VERIFIER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evidence verification</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Evidence verification</h1>
<p>Checks an evidence package. Nothing that is sent here is kept. Give the trust anchor that you have
from the issuing tenant: without it the result rests on what the package says of itself.</p>
<form method="post" action="/api/v1/verify.txt" enctype="multipart/form-data">
<fieldset>
<legend>Package</legend>
<label for="package">evidence.tar.gz, up to 64 MiB (choose it, or drop it here)</label>
<input id="package" name="package" type="file" required>
</fieldset>
<label for="anchor">Trust anchor (JSON)</label>
<textarea id="anchor" name="trust_anchor" spellcheck="false" autocomplete="off"></textarea>
<button type="submit">Verify</button>
</form>
<p id="verdict" role="status" aria-live="polite"></p>
<pre id="report" tabindex="0" aria-label="Report" hidden></pre>
<p><a href="/trust-anchor.json">Published keyset</a> &middot; version ${VERIFIER_VERSION}</p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const VERIFIER_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};
