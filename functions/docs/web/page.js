/** Shows the document in Swagger UI, which asks no other server for anything. */
const showAnchor = () => document.getElementById(location.hash.slice(1))?.scrollIntoView();

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

/** Adds the levels of headings, the landmarks and the names of controls that Swagger UI lacks. */
const label = () => {
  const levels = { 'h3.opblock-tag, .models h4': '2', '.opblock h4': '3', '.opblock h5': '4' };
  for (const [selector, level] of Object.entries(levels)) {
    for (const heading of document.querySelectorAll(selector)) heading.ariaLevel = level;
  }
  const landmarks = { '.information-container': 'About', '.scheme-container': 'Server and token' };
  for (const [selector, name] of Object.entries(landmarks)) {
    const landmark = document.querySelector(selector);
    if (landmark) Object.assign(landmark, { role: 'region', ariaLabel: name });
  }
  for (const select of document.querySelectorAll('#swagger select:not([aria-label])')) {
    const row = select.closest('tr')?.querySelector('.parameter__name, .response-col_status');
    select.ariaLabel = row?.textContent ?? 'Choice';
  }
};
new MutationObserver(label).observe(document.body, { childList: true, subtree: true });

globalThis.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger',
  queryConfigEnabled: false,
  validatorUrl: null,
  persistAuthorization: false,
  // The page moved down when the document above the list of errors was shown.
  onComplete: showAnchor,
});
