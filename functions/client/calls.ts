/** The operations of the contract that users need for their own account, by their names. */
import { type Answer, mapped } from './answer.ts';
import type { Api, CallOptions } from './api.ts';
import { type IdentityProof, identityLogin } from './identity.ts';
import type {
  Credentials,
  EmailVerification,
  NewUser,
  PasswordReset,
  PasswordResetRequest,
  ProfileData,
  SessionOfUser,
  User as StoredUser,
  UserChanges,
} from './paths.ts';
import type { User } from './user.ts';

/** The user whom a call has logged in, and the message of the service. */
export interface LoggedIn<Declared extends object> {
  readonly user: User<Declared>;
  readonly message: string;
}

/** Every call resolves to an {@link Answer}, and takes an `AbortSignal`. */
export interface Calls<Declared extends object> {
  /** `user` is null if the address must be verified before the first login. */
  register(
    user: NewUser,
    options?: CallOptions,
  ): Promise<Answer<{ readonly user: User<Declared> | null; readonly message: string }>>;
  logIn(credentials: Credentials, options?: CallOptions): Promise<Answer<LoggedIn<Declared>>>;
  /** The first login also registers the user. If a code of a second factor is required, call it again with `code`. */
  logInByIdentity(proof: IdentityProof, options?: CallOptions): Promise<Answer<LoggedIn<Declared>>>;
  /** Forgets the tokens in any case: an error means that the session may still be open at the service. */
  logOut(options?: CallOptions): Promise<Answer<undefined>>;
  requestPasswordReset(
    body: PasswordResetRequest,
    options?: CallOptions,
  ): Promise<Answer<{ readonly message: string }>>;
  /** @param body contains the token of the mailed link */
  resetPassword(body: PasswordReset, options?: CallOptions): Promise<Answer<undefined>>;
  requestEmailVerification(options?: CallOptions): Promise<Answer<{ readonly message: string }>>;
  /** @param body contains the token of the mailed link */
  verifyEmail(body: EmailVerification, options?: CallOptions): Promise<Answer<undefined>>;
  getProfile(options?: CallOptions): Promise<Answer<ProfileData>>;
  /** Changes the user who is signed in. */
  updateUser(changes: UserChanges, options?: CallOptions): Promise<Answer<StoredUser>>;
  /** Lists the sessions of the user who is signed in. */
  listSessions(options?: CallOptions): Promise<Answer<readonly SessionOfUser[]>>;
  endSession(session: string, options?: CallOptions): Promise<Answer<undefined>>;
  endOtherSessions(options?: CallOptions): Promise<Answer<undefined>>;
}

/** The parts of the client that the calls need. */
export interface Caller {
  readonly api: Api;
  /** The user who is signed in, according to the storage. */
  readonly whoIs: () => Promise<User | null>;
  readonly logOut: Calls<object>['logOut'];
}

export function callsOf(caller: Caller): Calls<object> {
  const { api, whoIs, logOut } = caller;
  const own = async () => ({ path: { id: (await whoIs())?.id ?? 0 } });
  const loggedIn = async ({ message }: { readonly message: string }) => {
    return { message, user: (await whoIs()) as User };
  };
  return {
    register: (body, options) =>
      mapped(api.POST('/api/auth/register', { body, ...options }), async ({ token, message }) => ({
        message,
        user: token ? await whoIs() : null,
      })),
    logIn: (body, options) => mapped(api.POST('/api/login', { body, ...options }), loggedIn),
    logInByIdentity: identityLogin(api, loggedIn),
    logOut,
    requestPasswordReset: (body, options) => api.POST('/api/password-resets', { body, ...options }),
    resetPassword: (body, options) => api.PUT('/api/password-resets', { body, ...options }),
    requestEmailVerification: (options) => api.POST('/api/email-verifications', options),
    verifyEmail: (body, options) => api.PUT('/api/email-verifications', { body, ...options }),
    getProfile: (options) => mapped(api.GET('/api/profile', options), ({ data }) => data),
    updateUser: async (body, options) =>
      api.PUT('/api/users/{id}', { params: await own(), body, ...options }),
    listSessions: async (options) =>
      mapped(
        api.GET('/api/users/{id}/sessions', { params: await own(), ...options }),
        ({ data }) => data,
      ),
    endSession: async (session, options) => {
      const { path } = await own();
      const params = { path: { ...path, session } };
      return api.DELETE('/api/users/{id}/sessions/{session}', { params, ...options });
    },
    endOtherSessions: async (options) =>
      api.DELETE('/api/users/{id}/sessions', { params: await own(), ...options }),
  };
}
