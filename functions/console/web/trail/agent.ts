/** The tokens with which user agents name themselves. Most agents name others too: the first token that fits counts. */
const browsers: readonly (readonly [name: string, token: RegExp])[] = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Samsung Internet', /SamsungBrowser\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).* Safari\//],
];

const systems: readonly (readonly [name: string, token: RegExp])[] = [
  ['Windows', /Windows/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
];

/**
 * A user agent as people name it: `Firefox 140 on Linux`, `curl 8.5.0`. The client has chosen the name, which
 * proves nothing.
 * @param given may be a number if the service did not write the entry
 */
export const readableAgent = (given: string | number): string => {
  const agent = String(given);
  for (const [browser, token] of browsers) {
    const [, version] = token.exec(agent) ?? [];
    const system = systems.find(([, name]) => name.test(agent))?.[0];
    if (version) return `${browser} ${version}${system ? ` on ${system}` : ''}`;
  }
  const [, product, version] = /^([^\s/]{1,40})\/([^\s/]{1,20})/.exec(agent) ?? [];
  return product ? `${product} ${version}` : agent.slice(0, 60);
};

/** A user agent in one short word: the browser, or the program. */
export const agentWord = (given: string | number): string =>
  /^(?:Samsung Internet|[^\s/]{1,20})/.exec(readableAgent(given))?.[0] ?? '';
