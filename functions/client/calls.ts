/** The operations of the contract that users need for their own account, by their names. */
import { mapped } from './answer.ts';
import type { Api, CallOptions } from './api.ts';
import { logOut } from './exchange.ts';
import type { Way } from './fetch.ts';
import { identityLogin } from './identity.ts';
import type {
  Credentials,
  EmailVerification,
  NewUser,
  PasswordReset,
  PasswordResetRequest,
  SessionOfUser,
  UserChanges,
} from './paths.ts';
import { readSession } from './tokens.ts';
import type { User } from './user.ts';

/** The calls of a client. @template Declared the attributes that tokens have as claims */
export type Calls<Declared extends object> = ReturnType<typeof callsOf<Declared>>;

/** Every call resolves to an {@link Answer}, and takes an `AbortSignal`. */
export function callsOf<Declared extends object>(api: Api, way: Way) {
  const whoIs = () => userOf<Declared>(way);
  const loggedIn = async ({ message }: { readonly message: string }) => {
    return { message, user: (await whoIs()) as User<Declared> };
  };
  return {
    /** `user` is null if the address must be verified before the first login. */
    register: (body: NewUser, options?: CallOptions) =>
      mapped(api.POST('/api/auth/register', { body, ...options }), async ({ token, message }) => ({
        message,
        user: token ? await whoIs() : null,
      })),
    logIn: (body: Credentials, options?: CallOptions) =>
      mapped(api.POST('/api/login', { body, ...options }), loggedIn),
    /** The first login also registers the user. If a code of a second factor is required, call it again with `code`. */
    logInByIdentity: identityLogin(api, loggedIn),
    /** Forgets the tokens in any case: an error means that the session may still be open at the service. */
    logOut: (options?: CallOptions) => logOut(way, options?.signal),
    requestPasswordReset: (body: PasswordResetRequest, options?: CallOptions) =>
      api.POST('/api/password-resets', { body, ...options }),
    /** @param body contains the token of the mailed link */
    resetPassword: (body: PasswordReset, options?: CallOptions) =>
      api.PUT('/api/password-resets', { body, ...options }),
    requestEmailVerification: (options?: CallOptions) =>
      api.POST('/api/email-verifications', options),
    /** @param body contains the token of the mailed link */
    verifyEmail: (body: EmailVerification, options?: CallOptions) =>
      api.PUT('/api/email-verifications', { body, ...options }),
    getProfile: (options?: CallOptions) =>
      mapped(api.GET('/api/profile', options), ({ data }) => data),
    /** Changes the user who is signed in. */
    updateUser: async (body: UserChanges, options?: CallOptions) =>
      api.PUT('/api/users/{id}', { params: await own(way), body, ...options }),
    /** Lists the sessions of the user who is signed in. */
    listSessions: async (options?: CallOptions) => {
      const answer = api.GET('/api/users/{id}/sessions', { params: await own(way), ...options });
      return mapped(answer, ({ data }): readonly SessionOfUser[] => data);
    },
    endSession: async (session: string, options?: CallOptions) => {
      const { path } = await own(way);
      const params = { path: { ...path, session } };
      return api.DELETE('/api/users/{id}/sessions/{session}', { params, ...options });
    },
    endOtherSessions: async (options?: CallOptions) =>
      api.DELETE('/api/users/{id}/sessions', { params: await own(way), ...options }),
  };
}

async function userOf<Declared extends object>({ keeper }: Way): Promise<User<Declared> | null> {
  return ((await readSession(keeper))?.user ?? null) as User<Declared> | null;
}

async function own(way: Way) {
  return { path: { id: (await userOf(way))?.id ?? 0 } };
}
