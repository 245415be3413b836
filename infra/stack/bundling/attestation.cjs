/**
 * Replaces in the bundles the packages that @simplewebauthn/server imports to verify attestations of authenticators
 * by X.509. The service neither requests nor accepts attestations. Leaving the packages out saves 239 of 599 KB.
 */
const absent: undefined = undefined;

export {
  absent as AuthorityKeyIdentifierExtension,
  absent as BasicConstraints,
  absent as Certificate,
  absent as CRLDistributionPointsExtension,
  absent as ECParameters,
  absent as ExtendedKeyUsage,
  absent as id_ce_basicConstraints,
  absent as id_ce_extKeyUsage,
  absent as id_ce_keyDescription,
  absent as id_ce_subjectAltName,
  absent as id_ecdsaWithSHA256,
  absent as id_ecdsaWithSHA384,
  absent as id_ecdsaWithSHA512,
  absent as id_ecPublicKey,
  absent as id_ml_dsa_44,
  absent as id_ml_dsa_65,
  absent as id_ml_dsa_87,
  absent as id_rsaEncryption,
  absent as id_secp256r1,
  absent as id_secp384r1,
  absent as id_sha1WithRSAEncryption,
  absent as id_sha256WithRSAEncryption,
  absent as id_sha384WithRSAEncryption,
  absent as id_sha512WithRSAEncryption,
  absent as KeyDescription,
  absent as OctetString,
  absent as RSAPublicKey,
  absent as SubjectAlternativeName,
  absent as SubjectKeyIdentifierExtension,
  absent as X509Certificate,
  absent as X509ChainBuilder,
  absent as X509Crl,
  absent as ECDSASigValue,
};

/**
 * The only parser that is left reads the two numbers of a signature in DER. Logins also check the form of the
 * signature.
 */
export const AsnParser = {
  parse(der: Uint8Array) {
    const end = 4 + (der[3] ?? 0);
    return { r: der.slice(4, end), s: der.slice(end + 2) };
  },
};
