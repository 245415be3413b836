/** Shows the document in Swagger UI, which asks no other server for anything. */
const showAnchor = () => document.getElementById(location.hash.slice(1))?.scrollIntoView();

globalThis.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger',
  queryConfigEnabled: false,
  validatorUrl: null,
  persistAuthorization: false,
  // The page moved down when the document above the list of errors was shown.
  onComplete: showAnchor,
});
