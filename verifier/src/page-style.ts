/**
 * The style of the verification page. Every colour has a contrast of at least 4.5 to 1 in both
 * schemes.
 */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  font: 1rem/1.5 system-ui, sans-serif;
  --ink: #1b1f24; --paper: #fff; --soft: #57606a; --line: #8c959f; --faint: #d0d7de; --panel: #f6f8fa;
  --good: #116329; --bad: #a40e26; --open: #7d4e00; --accent: #0757b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6edf3; --paper: #0d1117; --soft: #9ea7b3; --line: #6e7681; --faint: #30363d; --panel: #161b22;
    --good: #56d364; --bad: #ff8e87; --open: #e3b341; --accent: #79b8ff;
  }
}
body { max-width: 50rem; margin: 0 auto; padding: 2rem 1rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.6rem; line-height: 1.4; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; }
a { color: var(--accent); }
label, legend { font-weight: 600; }
.hint { color: var(--soft); font-size: .9rem; margin: .15rem 0 .4rem; }
fieldset { min-width: 0; margin: 1rem 0; padding: .75rem 1rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
#zone { border: 2px dashed var(--line); background: var(--panel); }
#zone.over { border: 2px solid var(--accent); }
input[type=file], textarea { display: block; width: 100%; box-sizing: border-box; font: inherit; color: inherit; }
textarea { min-height: 5rem; padding: .5rem; font: .85rem/1.4 ui-monospace, monospace; background: var(--paper); border: 1px solid var(--line); border-radius: .25rem; }
[aria-invalid=true] { outline: 2px solid var(--bad); outline-offset: 2px; }
button { padding: .6rem 2rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--accent); border: 1px solid var(--accent); border-radius: .4rem; cursor: pointer; }
button[aria-disabled] { color: var(--soft); background: var(--panel); border-color: var(--line); cursor: progress; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#verdict { min-height: 1.5em; margin: 1.25rem 0 0; font-size: 1.3rem; font-weight: 700; overflow-wrap: anywhere; }
#verdict:not(:empty) { padding: .6rem .9rem; border-left: .4rem solid var(--line); background: var(--panel); }
#verdict.VERIFIED { border-color: var(--good); color: var(--good); }
#verdict.NOT_VERIFIED, #verdict.UNREADABLE, #verdict.PROBLEM { border-color: var(--bad); color: var(--bad); }
#verdict.INCONCLUSIVE { border-color: var(--open); color: var(--open); }
#verdict.PROBLEM { font-size: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); font-size: .85rem; line-height: 1.7; }
dd { margin: 0; overflow-wrap: anywhere; }
textarea + label { display: block; margin-top: .75rem; }
table { width: 100%; border-collapse: collapse; font-size: .95rem; }
th, td { padding: .3rem .75rem .3rem 0; text-align: left; vertical-align: top; font-weight: 400; border-bottom: 1px solid var(--faint); }
td:last-child { overflow-wrap: anywhere; }
caption { text-align: left; }
thead th { color: var(--soft); font-size: .85rem; }
tbody th { font-family: ui-monospace, monospace; font-size: .85rem; }
td:first-child { font-weight: 700; white-space: nowrap; }
td.PASS { color: var(--good); }
td.FAIL { color: var(--bad); }
td.WARN { color: var(--open); }
td.SKIP { color: var(--soft); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; font-size: .85rem; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; }
summary { cursor: pointer; padding: .25rem 0; }
footer { margin: 2rem 0 0; padding-top: .75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .9rem; }
@media (max-width: 34rem) {
  body { padding-top: 1rem; }
  tbody th { font-size: .75rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; }
}
`;
