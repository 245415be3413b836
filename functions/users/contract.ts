import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { cursor, limitUpTo } from '../../lib/contract/parameters.ts';
import {
  confirmationErrors,
  exampleIdentity,
  exampleSecondFactor,
  id,
  identity,
  named,
  refusesUnmailable,
  secondFactor,
  timestamp,
} from '../../lib/contract/schemas.ts';
import {
  hasAttributes,
  hasFactors,
  hasIdentities,
  hasPasskeys,
  hasSecondFactors,
  hasSessions,
  type ServiceValues,
  sendsMail,
} from '../../lib/ground/settings.ts';
import {
  described,
  type Fields,
  fieldsIf,
  oneOf,
  rule,
  trueOrFalse,
} from '../../lib/ground/validation.ts';
import { attributesField, date, shownAttributes } from '../../lib/options/attributes/field.ts';
import {
  idTokenIfAny,
  mailLanguage,
  name,
  newEmail,
  password,
  role,
  textIfAny,
  userChanges,
  wantedEmail,
} from '../../lib/users/fields.ts';
import { type Role, roles, type Status, statusesUnder } from '../../lib/users/user.ts';

const newUser = { name, email: newEmail, password };

export const create = {
  route: 'POST /api/users',
  may: 'createUser',
  body: (settings, of: Role, given?: Fields) =>
    of === 'admin'
      ? newUserOfAdmins(settings, given)
      : v.object({ ...newUser, ...attributesField(settings, of, given?.attributes) }),
  whenMissing: 'FIELDS_REQUIRED',
  storageFault: ['Error creating user', 'insertErr'],
} as const satisfies Contract;

export const list = {
  route: 'GET /api/users',
  may: 'listUsers',
  query: (_accept, settings) => ({
    search: v.optional(
      described(
        name,
        'Only users whose name or address has this part, in any letter case; for admins only. A page may be empty while `Link` leads on.',
      ),
    ),
    limit: v.optional(
      described(
        limitUpTo(1000),
        'The most users in the response. Default: as many as one read of the list returns.',
      ),
    ),
    cursor: cursor(),
    order: v.optional(
      v.pipe(
        oneOf(['asc', 'desc']),
        v.description('Oldest first (`asc`), or newest first.'),
        v.metadata({ default: 'asc' }),
      ),
    ),
    role: v.optional(described(oneOf(['admin']), 'Only the admins.')),
    ...statusParameter(settings),
    ...fieldsIf(hasSessions(settings), {
      auditor: v.optional(described(oneOf(['true']), `Only the auditors; ${walked}`)),
    }),
    email: v.optional(
      described(
        wantedEmail,
        'Only the user who has this address, in any spelling (`+` is written `%2B`). Not together with `cursor`.',
      ),
    ),
    ...fieldsIf(hasAttributes(settings), {
      attributes: v.optional(
        described(
          oneOf(['true']),
          'Whether to show `attributes`; for admins and auditors only. Then `limit` is at most 100, which is its default.',
        ),
      ),
    }),
    ...seenBeforeParameter(settings),
  }),
  storageFault: ['Error listing users', 'err'],
} as const satisfies Contract;

export const get = {
  route: 'GET /api/users/{id}',
  may: 'readUser',
  storageFault: ['Error fetching user', 'err'],
} as const satisfies Contract;

export const update = {
  route: 'PUT /api/users/{id}',
  may: 'changeUser',
  body: (settings, of: Role, given?: Fields) =>
    of === 'admin' ? changesByAdmins(settings, given) : changesByOthers(settings, given),
  storageFault: ['Error updating user', 'err'],
} as const satisfies Contract;

export const remove = {
  route: 'DELETE /api/users/{id}',
  may: 'administer',
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Contract;

export const removeSecondFactor = {
  route: 'DELETE /api/users/{id}/second-factor',
  exists: hasFactors,
  may: 'administerOthers',
  storageFault: ['Error removing second factor', 'err'],
} as const satisfies Contract;

export const tag = 'Users';

export const descriptions: Descriptions = {
  create: (settings) => ({
    id: 'createUser',
    summary: 'Create a user',
    text: [
      settings.accounts === 'private'
        ? 'For admins only, because the response says whether somebody has the address. The role `admin` needs a caller who is stored as an admin at that moment.'
        : 'Only admins may ask for the role `admin`; the caller must be stored as an admin at that moment.',
      sendsMail(settings) &&
        'Admins may send `invite` instead of a password: the user has no way in before the mailed link, which is valid for seven days, is used to set one.',
      refusesUnmailable(settings),
      hasAttributes(settings) && 'Attributes that only admins write are refused to others.',
    ],
    bodyExample: { ...exampleNewUser, password: 'a long password' },
    success: {
      status: 201,
      description: 'The new user.',
      schema: userUnder(settings),
      example: {
        ...exampleUnder(settings),
        ...exampleNewUser,
        id: 18,
        created_at: '2026-11-21T09:06:00.000Z',
      },
    },
    errors: [
      'EMAIL_REGISTERED',
      'HASHING_FAULT',
      sendsMail(settings) && ['PASSWORD_OR_INVITATION', 'ADMIN_INVITED', 'MAILS_LIMITED'],
    ],
  }),

  list: (settings) => ({
    id: 'listUsers',
    summary: 'List the users',
    text: [
      'Oldest first unless `order` says otherwise.',
      'Without `limit` a response has as many users as one read of 1 MB returns, which is thousands.',
      'As long as more remain, `Link` leads to the next page.',
      'A user who was just created may be missing for a moment.',
      settings.accounts === 'private' &&
        `Callers who are ${noReaders(settings)} get only themselves.`,
      hasSessions(settings) && 'Auditors get what admins get, also by `search`.',
      hasFactors(settings) &&
        'With `role=admin`, admins and auditors also get `second_factor` and `passkeys`, and at most 100 users a page.',
    ],
    success: {
      status: 200,
      description: 'One page of the users.',
      schema: named('Users', v.pipe(v.array(userUnder(settings)), v.readonly())),
      example: [exampleUnder(settings)],
      headers: ['Link'],
    },
    // FORBIDDEN is the response to callers who search but may not.
    errors: ['FORBIDDEN'],
  }),

  get: (settings) => ({
    id: 'getUser',
    summary: 'Show a user',
    text: [
      settings.accounts === 'private' &&
        `Callers who are ${noReaders(settings)} may see only themselves.`,
      hasSecondFactors(settings) && 'Only admins and auditors see `second_factor`.',
      hasIdentities(settings) && 'Only admins and auditors see `identities`.',
      hasPasskeys(settings) && 'Only admins and auditors see `passkeys`.',
    ],
    success: {
      status: 200,
      description: 'The user.',
      schema: named(
        'UserDetails',
        v.object({
          ...userFields(settings),
          ...fieldsIf(hasIdentities(settings), {
            identities: v.exactOptional(v.array(identity())),
          }),
        }),
      ),
      example: {
        ...exampleUnder(settings),
        ...(hasSecondFactors(settings) && { second_factor: exampleSecondFactor }),
        ...(hasIdentities(settings) && { identities: [exampleIdentity] }),
        ...(hasPasskeys(settings) && { passkeys: [examplePasskey] }),
      },
    },
  }),

  update: (settings) => ({
    id: 'updateUser',
    summary: 'Change a user',
    text: [
      'Changes only the fields that are given; at least one is required.',
      'Only admins may change a role; to make somebody an admin, the caller must be stored as an admin at that moment.',
      settings.accounts === 'open'
        ? 'Whoever made a user by POST /api/users may change that user too, until somebody else sets a password or another address, or the user becomes an admin or enables a second factor.'
        : 'Callers who are not admins may change only themselves.',
      hasSessions(settings) &&
        'Only admins may say who is an auditor; to make somebody one, the caller must be stored as an admin at that moment, and whoever made the user may change the user no more.',
      hasSessions(settings) &&
        'Users who change their own password or address must send their current password too, and end their other sessions; an admin who sets a password, or demotes an admin, ends all the user’s.',
      hasAttributes(settings) &&
        'Users write the attributes of which it is declared, admins all; nobody needs a confirmation.',
      refusesUnmailable(settings),
      settings.emailVerification !== 'off' &&
        'Another address of one’s own is mailed a link, and counts only when the link is used: until then the response has the old one, and the new one as `pending_email`. The present address, sent back, cancels that.',
    ],
    bodyExample: { name: 'Ada King' },
    success: {
      status: 200,
      description: 'The changed user.',
      schema: userUnder(settings),
      example: { ...exampleUnder(settings), name: 'Ada King' },
    },
    errors: [
      'NO_FIELDS_TO_UPDATE',
      'EMAIL_REGISTERED',
      'HASHING_FAULT',
      hasSessions(settings) && [
        'CURRENT_PASSWORD_REQUIRED',
        'CURRENT_PASSWORD_WRONG',
        'TOO_MANY_ATTEMPTS',
      ],
      // An invitation still counts after mails were turned off.
      'INVITATION_NOT_ACCEPTED',
      confirmationErrors(settings),
    ],
  }),

  remove: () => ({
    id: 'deleteUser',
    summary: 'Delete a user',
    success: { status: 204, description: 'The user is deleted.' },
  }),

  removeSecondFactor: (settings) => ({
    id: 'removeSecondFactor',
    summary: 'Remove the second factor of a user',
    text: [
      'For a user who has lost the app and the recovery codes. The admin must have a second factor, and cannot remove it so. All sessions of the user are ended.',
      hasPasskeys(settings) &&
        'All passkeys of the user are removed too; an admin whose session began by a passkey has a second factor.',
    ],
    success: { status: 204, description: 'The second factor is removed.' },
    errors: ['SECOND_FACTOR_NOT_FOUND', 'SECOND_FACTOR_REQUIRED'],
  }),
};

export function profileFields(settings: ServiceValues) {
  const plain = { id: id(), name: v.string(), email: v.string(), role: v.picklist(roles) };
  const ofAuditor =
    'Whether the user is an auditor. Absent for callers who are neither the user nor an admin or auditor.';
  const auditor = v.exactOptional(described(trueOrFalse, ofAuditor));
  const user = {
    ...plain,
    ...fieldsIf(hasSessions(settings), { auditor }),
    ...shownAttributes(settings),
  };
  if (settings.emailVerification === 'off') return user;
  return {
    ...user,
    email_verified: described(v.boolean(), 'Whether the user has verified the address.'),
    pending_email: v.exactOptional(
      described(
        v.string(),
        'Another address that the user has asked for, for as long as it waits for its mailed link. Absent when there is none, and for callers who are neither the user nor an admin or auditor.',
      ),
    ),
  };
}

/** The user of the other examples, with the fields that users see of themselves. */
export function exampleProfile(settings: ServiceValues) {
  return {
    id: 17,
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    role: 'user',
    ...(hasSessions(settings) && { auditor: false }),
    ...(settings.emailVerification !== 'off' && { email_verified: true }),
  };
}

const walked = 'for admins and auditors only. A page may be empty while `Link` leads on.';

const withStatus: Readonly<Record<Status, string>> = {
  invited: 'have not used their invitation, even if it has ended (`invited`)',
  suspended: 'are suspended (`suspended`)',
  unverified: 'have not verified their address (`unverified`)',
};

/** The parameter that selects users by what options know of them. */
function statusParameter(settings: ServiceValues) {
  const statuses = statusesUnder(settings);
  const texts = statuses.map((status) => withStatus[status]);
  const text = `Only the users who ${texts.join(', or ')}; ${walked}`;
  return fieldsIf(statuses.length > 0, { status: v.optional(described(oneOf(statuses), text)) });
}

function seenBeforeParameter(settings: ServiceValues) {
  return fieldsIf(hasSessions(settings), {
    seenBefore: v.optional(
      described(
        date,
        'Only users who were last seen before this day (UTC), longest ago first, each with `last_seen_on`; for admins and auditors only. Not together with `search`, `role`, `status`, `auditor` or `email`. Then `limit` is at most 100, which is its default, and a page may be shorter while `Link` leads on.',
      ),
    ),
  });
}

function newUserOfAdmins(settings: ServiceValues, given: Fields | undefined) {
  return named(
    'NewUserWithRole',
    v.object({
      role: described(
        v.nullish(role),
        'Only admins may ask for `admin`; other callers always make a `user`.',
      ),
      ...fieldsIf(sendsMail(settings), {
        invite: v.exactOptional(
          described(
            trueOrFalse,
            'Whether to mail an invitation; then without a password. Of admins only.',
          ),
        ),
        language: mailLanguage,
      }),
      ...newUser,
      password: passwordUnlessInvited(settings, given),
      ...attributesField(settings, 'admin', given?.attributes),
    }),
  );
}

/** @param given absent: the schema is for the document, in which the password may be absent */
function passwordUnlessInvited(settings: ServiceValues, given: Fields | undefined) {
  if (!sendsMail(settings)) return password;
  if (!given) return v.exactOptional(password);
  // Null and '' mean that there is no password; createUser refuses any other value.
  return given.invite === true ? v.optional(v.custom<string>(() => true)) : password;
}

const changedByAdmins = 'Changed by admins only; others may send their own back.';

function changesByAdmins(settings: ServiceValues, given: Fields | undefined, of: Role = 'admin') {
  const schema = v.object({
    ...userChanges(),
    ...attributesField(settings, of, given?.attributes),
    role: v.exactOptional(described(role, changedByAdmins)),
    ...fieldsIf(hasSessions(settings), {
      auditor: v.exactOptional(described(trueOrFalse, changedByAdmins)),
      currentPassword: textIfAny({
        format: 'password',
        description: 'Required of users who change their own password or address.',
      }),
      ...idTokenIfAny(settings),
    }),
  });
  return named('UserChanges', v.pipe(schema, ofSome<v.InferOutput<typeof schema>>()));
}

function ofSome<Changes extends object>() {
  return rule<Changes>({
    code: 'NO_FIELDS_TO_UPDATE',
    holds: (fields) =>
      Object.entries(fields).some(
        ([name, value]) =>
          !['currentPassword', 'idToken', 'nonce'].includes(name) && !isEmptyObject(value),
      ),
    keywords: () => ({ minProperties: 1 }),
  });
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function changesByOthers(settings: ServiceValues, given: Fields | undefined) {
  return v.pipe(
    changesByAdmins(settings, given, 'user'),
    v.transform(({ role: _role, auditor: _auditor, ...others }) => others),
  );
}

function userUnder(settings: ServiceValues) {
  return named('User', v.object(userFields(settings)));
}

/** The fields of a user in responses (functions/README.md, Responses). */
function userFields(settings: ServiceValues) {
  return {
    ...profileFields(settings),
    created_at: timestamp(),
    suspended_at: v.exactOptional(
      described(
        timestamp(),
        `Since when the user is suspended. Absent when not, and for callers who are ${noReaders(settings)}.`,
      ),
    ),
    ...fieldsIf(sendsMail(settings), {
      invited_until: v.exactOptional(
        described(
          timestamp(),
          `Until when the newest link of the invitation is or was valid: the invitation is open before this time, and has ended from then on. Absent where there is no invitation, or the user has accepted it by setting a password, and for callers who are ${noReaders(settings)}.`,
        ),
      ),
    }),
    ...fieldsIf(hasSessions(settings), {
      last_seen_on: v.exactOptional(
        described(
          v.nullable(v.pipe(v.string(), v.isoDate())),
          'The day (UTC) of the newest registration, login or refresh; null: none is recorded. Only in GET /api/users/{id} and lists with `seenBefore`, for the user, admins and auditors.',
        ),
      ),
    }),
    ...factorFields(settings),
  };
}

/** The words for callers who see only those fields of other users that ordinary users see. */
function noReaders(settings: ServiceValues) {
  return hasSessions(settings) ? 'neither admins nor auditors' : 'not admins';
}

function exampleUnder(settings: ServiceValues) {
  return { ...exampleProfile(settings), created_at: '2026-11-21T09:05:00.000Z' };
}

/** The fields of a single user, and of the users in a list of the admins, for the options that are on. */
function factorFields(settings: ServiceValues): v.ObjectEntries {
  const text =
    'Only in GET /api/users/{id}, and in a list with `role=admin`; for admins and auditors.';
  const optional = (schema: v.GenericSchema) => v.exactOptional(described(schema, text));
  return {
    ...(hasSecondFactors(settings) && { second_factor: optional(secondFactor()) }),
    ...(hasPasskeys(settings) && { passkeys: optional(v.array(listedPasskey())) }),
  };
}

function listedPasskey() {
  return named(
    'PasskeySummary',
    v.object({
      id: v.string(),
      name: v.string(),
      created_at: timestamp(),
      rp_id: described(
        v.string(),
        'The domain for which it was made; one of another domain logs nobody in.',
      ),
    }),
  );
}

const examplePasskey = {
  id: 'R0h2kQ9mT4yWcXbZ',
  name: 'Passkey',
  created_at: '2026-11-20T09:00:00.000Z',
  rp_id: 'example.com',
};

const exampleNewUser = { name: 'Charles Babbage', email: 'charles@example.org' };
