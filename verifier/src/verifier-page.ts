/**
 * The page of the verification service: one file, no external resources, no script but its own. It
 * also works without the script: the form then returns the plain-text report. Checked in a browser
 * by `npm run page`.
 */
import { createHash } from 'node:crypto';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import { VERIFIER_VERSION } from './version.ts';

export const VERIFIER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evidence verification</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>Evidence verification</h1>
<p>Checks that an evidence package is what was signed, and says which check failed where it is not.
Nothing that you send is kept.</p>
<form id="form" method="post" action="/api/v1/verify.txt" enctype="multipart/form-data">
<fieldset id="zone">
<legend>1. Package</legend>
<label for="package">Evidence package</label>
<p class="hint" id="package-hint">evidence.tar.gz, up to 64 MiB. Choose it, or drop it on this page;
a trust anchor may be dropped with it.</p>
<input id="package" name="package" type="file" required aria-describedby="package-hint verdict">
</fieldset>
<fieldset>
<legend>2. Trust anchor</legend>
<label for="anchor">Its JSON</label>
<p class="hint" id="anchor-hint">What the issuing tenant gave you beforehand. Without it a package only
vouches for itself, and the result is inconclusive unless this service knows the issuer.</p>
<textarea id="anchor" name="trust_anchor" spellcheck="false" autocomplete="off"
 aria-describedby="anchor-hint verdict"></textarea>
<label for="anchor-file">or its file</label>
<input id="anchor-file" type="file" accept=".json,application/json">
</fieldset>
<p class="hint" id="chosen"></p>
<button id="verify" type="submit">Verify</button>
</form>
<p id="verdict" role="status"></p>
<section id="result" aria-labelledby="result-title" hidden>
<h2 id="result-title">What was found</h2>
<p id="meaning"></p>
<dl id="facts"></dl>
<table>
<caption class="hint">Each check, in the order of the report</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Check</th><th scope="col">Detail</th></tr></thead>
<tbody id="checks"></tbody>
</table>
<details>
<summary>The report as text</summary>
<pre id="report" tabindex="0" role="region" aria-label="The report as text"></pre>
</details>
</section>
</main>
<footer><a href="/trust-anchor.json">Published keyset</a> &middot; version ${VERIFIER_VERSION}</footer>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const VERIFIER_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(PAGE_SCRIPT)}`,
    `style-src ${hashOf(PAGE_STYLE)}`,
    "connect-src 'self'",
    // An empty icon, so that browsers do not request one.
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};
