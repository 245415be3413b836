/** Shows the document in Swagger UI, which asks no other server for anything. */
const showAnchor = () => document.getElementById(location.hash.slice(1))?.scrollIntoView();

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

globalThis.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger',
  queryConfigEnabled: false,
  validatorUrl: null,
  persistAuthorization: false,
  // The page moved down when the document above the list of errors was shown.
  onComplete: showAnchor,
});
