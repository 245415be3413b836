/**
 * Replaces in the bundles the packages that @simplewebauthn/server imports to verify attestations of authenticators
 * by X.509. The service neither requests nor accepts attestations. Leaving the packages out saves 239 of 599 KB. This
 * is CommonJS, so that all other imports from these packages are undefined.
 *
 * The only parser that is left reads the two numbers of a signature in DER. Logins also check the form of the
 * signature.
 */
exports.AsnParser = {
  parse(der) {
    const end = 4 + (der[3] ?? 0);
    return { r: der.slice(4, end), s: der.slice(end + 2) };
  },
};
