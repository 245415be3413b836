// Plain JavaScript without packages, which a Node too old for the rest can run, and which runs first.
import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);

/** @param {string} file @returns {Record<string, { version?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }>} */
const packagesIn = (file) => JSON.parse(readFileSync(new URL(file, root), 'utf8')).packages;

/** A sentence about the first package that `npm ci` has not installed; undefined if everything is there. */
const missing = () => {
  if (!existsSync(new URL('node_modules', root))) return 'The packages are not installed';
  // Without this file, nobody knows which packages a copy of the repository needs.
  if (!existsSync(new URL('package-lock.json', root))) return undefined;
  // npm writes these last.
  const last = ['node_modules/.package-lock.json', 'node_modules/.bin'];
  if (!last.every((path) => existsSync(new URL(path, root)))) {
    return 'The packages are not all installed';
  }
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn('node_modules/.package-lock.json');
  const isInstalled = (path) =>
    installed[path]?.version === wanted[path].version &&
    existsSync(new URL(`${path}/package.json`, root));
  const lacking = Object.entries(wanted)
    .filter(([path, { dev, optional, devOptional }]) =>
      // npm may have left these out, on request or for another platform.
      dev || optional || devOptional ? path in installed : path !== '',
    )
    .find(([path]) => !isInstalled(path));
  return (
    lacking &&
    `The package ${lacking[0].replace(/^.*node_modules\//, '')} is not installed, or not in the version of package-lock.json`
  );
};

const fault = missing();
if (fault) {
  console.error(`${fault}: run npm ci.`);
  process.exit(1);
}

// npm installs a Node for Linux; elsewhere, or if npm could not get that Node, scripts run with the Node on the PATH.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Node 24 or newer is needed, and this is ${process.version}: run npm start or npm run, which on Linux x64 and arm64 use the one that npm ci brings; elsewhere put one on the PATH.`,
  );
  process.exit(1);
}
