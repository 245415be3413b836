/** The page's one style sheet: light and dark, wide and narrow, on screen and on paper. */
export const style = `
:root {
  color-scheme: light dark;
  --back: light-dark(#fff, #15181c);
  --panel: light-dark(#f5f6f8, #1e2227);
  --line: light-dark(#dcdfe4, #343a42);
  --text: light-dark(#1f2328, #e3e6ea);
  --quiet: light-dark(#59616b, #a3abb5);
  --link: light-dark(#0a58a6, #86b7f2);
  --green: light-dark(#1a6b3c, #7cc79a);
  --amber: light-dark(#855000, #dfb16c);
  --red: light-dark(#a82a2a, #f09a94);
  --mark: light-dark(#fff5cf, #3a331a);
  font: 100%/1.6 system-ui, sans-serif;
  scroll-padding-top: 1.5rem;
}
* { box-sizing: border-box; }
body {
  max-width: 76rem;
  margin: 0 auto;
  padding: 0 2rem;
  display: grid;
  grid-template-columns: 16rem minmax(0, 1fr);
  column-gap: 3.5rem;
  color: var(--text);
  background: var(--back);
}
body > header { display: none; }
nav {
  position: sticky;
  top: 0;
  grid-row: 1 / span 2;
  align-self: start;
  max-height: 100vh;
  overflow-y: auto;
  padding: 3rem .25rem 2rem;
  font-size: .875rem;
}
main, footer { grid-column: 2; max-width: 48rem; }
main { padding: 2.25rem 0 3rem; }
main:focus { outline: none; }
footer { padding-bottom: 2rem; color: var(--quiet); font-size: .875rem; }

h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
h1 { margin: 0 0 1rem; font-size: 2.25rem; letter-spacing: -.02em; }
h2 { margin: 4rem 0 1rem; font-size: 1.625rem; letter-spacing: -.01em; }
h3 { margin: 0 0 .5rem; font-size: 1.25rem; }
h4 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
p, ul { margin: .75rem 0; }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover, h3 a:hover { text-decoration: underline; }
section section { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); }

a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .2em; }
a:has(code) { text-underline-offset: .35em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
:target > h2, :target > h3, tr:target { background: var(--mark); box-shadow: 0 0 0 .375rem var(--mark); }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--back); }
.skip:focus { left: .5rem; top: .5rem; z-index: 2; }

nav ul { margin: 0; padding: 0; list-style: none; }
nav > ul > li { margin-bottom: .75rem; }
nav a { display: block; padding: .15rem 0; color: var(--text); text-decoration: none; }
nav a:hover { color: var(--link); text-decoration: underline; }
nav > ul > li > a { font-weight: 600; }
nav li li a { display: flex; justify-content: space-between; align-items: baseline; gap: .75rem; color: var(--quiet); }
nav .method { font-size: .6875rem; }

code, .method { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: .875em; overflow-wrap: anywhere; }
pre {
  margin: .75rem 0;
  padding: .75rem 1rem;
  background: var(--panel);
  border-radius: 6px;
  line-height: 1.5;
  white-space: pre-wrap;
}
.route { margin: 0 0 1rem; font-size: 1.0625rem; }
.method { font-weight: 700; color: var(--link); }
.get, .head { color: var(--green); }
.put, .patch { color: var(--amber); }
.delete { color: var(--red); }
.headers, small { color: var(--quiet); }

table { width: 100%; margin: .75rem 0; border-collapse: collapse; font-size: .9375rem; }
th, td { padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; }
tbody th { width: 12rem; font-weight: 400; }
th small { display: block; }
td p, td ul { margin: .25rem 0 0; color: var(--quiet); }
td ul { padding-left: 1.25rem; }
th[scope=rowgroup] { padding-top: 1.25rem; font-weight: 700; }
th span { font-weight: 400; }
details td:first-child { width: 16rem; }
details { margin: 1.5rem 0 0; }
summary { width: fit-content; padding: .25rem 0; color: var(--link); cursor: pointer; }

@media (max-width: 52rem) {
  :root { scroll-padding-top: 4rem; }
  body { display: block; padding: 0 1rem; }
  body > header {
    display: block;
    position: sticky;
    top: 0;
    z-index: 1;
    margin: 0 -1rem;
    padding: .5rem 1rem;
    background: var(--back);
    border-bottom: 1px solid var(--line);
  }
  nav { position: static; max-height: none; padding: 1.25rem 0 0; font-size: 1rem; }
  nav a { padding: .25rem 0; }
  main { padding-top: 2rem; }
  h1 { font-size: 1.875rem; }
  tbody th, details td:first-child { width: 40%; }
}

@media print {
  :root { color-scheme: light; font-size: 10pt; }
  body { display: block; max-width: none; padding: 0; }
  main { max-width: none; padding: 0; }
  .skip, body > header, nav { display: none; }
  a, summary { color: inherit; }
  summary { list-style: none; }
  pre { border: 1px solid var(--line); }
  pre, tr { break-inside: avoid; }
  h2, h3, h4, .route, summary, tr:has([scope=rowgroup]) { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`;
