/** A login by an ID token of another issuer (functions/README.md, Identities). */
import { AccountsError, type Answer, mapped } from './answer.ts';
import type { Api, CallOptions } from './api.ts';

export interface IdentityProof {
  /** Requests an ID token for a nonce, with the SDK of the issuer. */
  readonly askIssuer: (nonce: string) => Promise<string>;
  /** The code of a second factor, once the service has asked for it. The previous ID token is sent with it. */
  readonly code?: string | undefined;
  /** The name of the user, for the first login if the ID token has no name. */
  readonly name?: string | undefined;
}

type Proof = { readonly idToken: string; readonly nonce: string };

/** The call `logInByIdentity`. @param loggedIn makes the data of the answer */
export function identityLogin<Data>(
  api: Api,
  loggedIn: (body: { readonly message: string }) => Promise<Data>,
): (proof: IdentityProof, options?: CallOptions) => Promise<Answer<Data>> {
  let kept: Proof | null = null;
  return async ({ askIssuer, code, name }, options) => {
    const proof = code && kept ? { data: kept, error: null } : await prove(api, askIssuer, options);
    if (proof.error) return proof;
    const body = { ...proof.data, ...(code && { code }), ...(name && { name }) };
    const answer = await mapped(api.POST('/api/login/identity', { body, ...options }), loggedIn);
    const { error } = answer;
    const isStillGood = error?.code.startsWith('LOGIN_CODE_') || error?.isTemporary;
    kept = isStillGood ? proof.data : null;
    return answer;
  };
}

async function prove(
  api: Api,
  askIssuer: IdentityProof['askIssuer'],
  options?: CallOptions,
): Promise<Answer<Proof>> {
  const { data, error } = await api.POST('/api/login/nonces', options);
  if (error) return { data: null, error };
  try {
    return { data: { idToken: await askIssuer(data.nonce), nonce: data.nonce }, error: null };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { data: null, error: new AccountsError('ISSUER_FAILED', { message, cause }) };
  }
}
