// Plain JavaScript, which a Node too old for the rest can run. npm brings one for Linux; elsewhere,
// or when npm could not have it, scripts run with the one on the PATH.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Node 24 or newer must be on the PATH, which has ${process.version}, wherever npm ci brings none: it does on Linux x64 and arm64.`,
  );
  process.exit(1);
}
