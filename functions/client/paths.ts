// Written by `npm run contract`: the operations, bodies and errors of the API, under every setting.

export type ContractCode =
  | "ACCOUNT_SUSPENDED"
  | "ADMIN_INVITED"
  | "AUDIT_ENTRY_NOT_FOUND"
  | "AUDIT_NOT_SEALED"
  | "BODY_ENCODING"
  | "BODY_FORBIDDEN_KEY"
  | "BODY_MALFORMED"
  | "BODY_MEDIA_TYPE"
  | "BODY_NOT_OBJECT"
  | "BODY_TOO_DEEP"
  | "BODY_TOO_LARGE"
  | "CLIENT_ADDRESS_INVALID"
  | "CODE_REQUIRED"
  | "CODE_WRONG"
  | "CREDENTIALS_REQUIRED"
  | "CURRENT_PASSWORD_REQUIRED"
  | "CURRENT_PASSWORD_WRONG"
  | "EMAIL_NOT_VERIFIED"
  | "EMAIL_REGISTERED"
  | "EMAIL_REQUIRED"
  | "FIELDS_REQUIRED"
  | "FIELD_INVALID"
  | "FORBIDDEN"
  | "HASHING_FAULT"
  | "IDEMPOTENCY_KEY_INVALID"
  | "IDEMPOTENCY_KEY_REQUIRED"
  | "IDEMPOTENCY_KEY_USED"
  | "IDENTITY_LINKED"
  | "IDENTITY_NOT_FOUND"
  | "IDENTITY_PROVIDER_FAULT"
  | "IDENTITY_TOKEN_INVALID"
  | "ID_TOKEN_REQUIRED"
  | "INVALID_CREDENTIALS"
  | "INVITATION_NOT_ACCEPTED"
  | "INVITED_SUSPENDED"
  | "LAST_ADMIN"
  | "LAST_ADMIN_SUSPENSION"
  | "LAST_LOGIN"
  | "LOGIN_CODE_REQUIRED"
  | "LOGIN_CODE_WRONG"
  | "LOGIN_PASSKEY_INVALID"
  | "MACHINES_LIMITED"
  | "MACHINE_NOT_FOUND"
  | "MAILS_LIMITED"
  | "MAIL_FAULT"
  | "NO_FIELDS_TO_UPDATE"
  | "NO_TOKEN"
  | "PARAMETER_INVALID"
  | "PASSKEY_INVALID"
  | "PASSKEY_NOT_FOUND"
  | "PASSKEY_REGISTERED"
  | "PASSKEY_UNKNOWN"
  | "PASSWORD_OR_INVITATION"
  | "REFRESH_TOKEN_INVALID"
  | "REFRESH_TOKEN_REQUIRED"
  | "RESET_TOKEN_INVALID"
  | "SECOND_FACTOR_ENABLED"
  | "SECOND_FACTOR_NOT_FOUND"
  | "SECOND_FACTOR_REQUIRED"
  | "SESSION_NOT_FOUND"
  | "STORAGE_FAULT"
  | "TOKEN_AND_PASSWORD_REQUIRED"
  | "TOKEN_EXPIRED"
  | "TOKEN_FAULT"
  | "TOKEN_INVALID"
  | "TOO_MANY_ATTEMPTS"
  | "TOO_MANY_IDENTITIES"
  | "TOO_MANY_PASSKEYS"
  | "UNEXPECTED_FAULT"
  | "USER_NOT_FOUND"
  | "USER_NOT_REGISTERED"
  | "VERIFICATION_TOKEN_INVALID"
  | "WAY_IN_EXISTS"
  | "WHOLE_CHECK_REQUESTED";

export type NewUser = { name: string; email: string; password: string; attributes?: AttributeChanges | undefined };
export type AttributeChanges = { readonly [name: string]: string | number | boolean | null };
export type Session = { message: string; token: string; refreshToken?: string | undefined };
export type Credentials = { email: string; password: string; code?: string | undefined };
export type RefreshRequest = { refreshToken: string };
export type Profile = { data: ProfileData };
export type ProfileData = { id: number; name: string; email: string; role: "user" | "admin"; auditor?: boolean | undefined; attributes?: Attributes | undefined; email_verified?: boolean | undefined; pending_email?: string | undefined };
export type Attributes = { readonly [name: string]: string | number | boolean };
export type AccountDeletion = { currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined; code?: string | undefined };
export type PasswordResetRequest = { email: string };
export type Message = { message: string };
export type PasswordReset = { token: string; password: string };
export type EmailVerification = { token: string; password?: string | undefined; idToken?: string | undefined; nonce?: string | undefined };
export type Nonce = { nonce: string };
export type IdentityLogin = { idToken: string; nonce: string; name?: string | undefined; code?: string | undefined };
export type Identities = { data: Array<Identity> };
export type Identity = { id: string; issuer: string; email: string | null; created_at: string };
export type IdentityLink = { idToken: string; nonce: string; currentPassword?: string | undefined; code?: string | undefined; currentIdToken?: string | undefined; currentNonce?: string | undefined };
export type IdentityRemoval = { currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined; code?: string | undefined };
export type PasskeyRequestOptions = { challenge: string; timeout: number; rpId: string; userVerification: string };
export type PasskeyLogin = { credential: UsedCredential };
export type UsedCredential = { id: string; rawId: string; type: string; response: UsedCredentialResponse };
export type UsedCredentialResponse = { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null | undefined };
export type Passkeys = { data: Array<Passkey>; user_handle: string | null; rp_id: string };
export type Passkey = { id: string; name: string; created_at: string; last_used_at: string | null; backed_up: boolean; credential_id: string; rp_id: string };
export type NewPasskey = { credential: MadeCredential; name?: string | undefined };
export type MadeCredential = { id: string; rawId: string; type: string; response: MadeCredentialResponse };
export type MadeCredentialResponse = { clientDataJSON: string; attestationObject: string };
export type PasskeyConfirmation = { currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined; code?: string | undefined };
export type PasskeyCreationOptions = { challenge: string; timeout: number; rp: PasskeyDomain; user: PasskeyUser; pubKeyCredParams: Array<PasskeyAlgorithm>; excludeCredentials: Array<PasskeyDescriptor>; authenticatorSelection: PasskeySelection; attestation: string };
export type PasskeyDomain = { id: string; name: string };
export type PasskeyUser = { id: string; name: string; displayName: string };
export type PasskeyAlgorithm = { type: string; alg: number };
export type PasskeyDescriptor = { type: string; id: string };
export type PasskeySelection = { residentKey: string; requireResidentKey: boolean; userVerification: string };
export type PasskeyName = { name: string };
export type Sessions = { data: Array<SessionOfUser> };
export type SessionOfUser = { id: string; created_at: string; last_used_at: string; expires_at: string; ip_address: string | null; user_agent: string | null; current: boolean };
export type SecondFactor = { enabled: boolean; recovery_codes_left: number };
export type PasswordConfirmation = { currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined };
export type SecondFactorEnrolment = { secret: string; uri: string };
export type CodeConfirmation = { code: string };
export type RecoveryCodes = { recoveryCodes: Array<string> };
export type PasswordAndCode = { code: string; currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined };
export type NewUserWithRole = { role?: "user" | "admin" | null | undefined; invite?: boolean | undefined; language?: "en" | "de" | undefined; name: string; email: string; password?: string | undefined; attributes?: AttributeChanges | undefined };
export type User = { id: number; name: string; email: string; role: "user" | "admin"; auditor?: boolean | undefined; attributes?: Attributes | undefined; email_verified?: boolean | undefined; pending_email?: string | undefined; created_at: string; suspended_at?: string | undefined; invited_until?: string | undefined; last_seen_on?: string | null | undefined; second_factor?: SecondFactor | undefined; passkeys?: Array<PasskeySummary> | undefined };
export type PasskeySummary = { id: string; name: string; created_at: string; rp_id: string };
export type Users = Array<User>;
export type UserDetails = { id: number; name: string; email: string; role: "user" | "admin"; auditor?: boolean | undefined; attributes?: Attributes | undefined; email_verified?: boolean | undefined; pending_email?: string | undefined; created_at: string; suspended_at?: string | undefined; invited_until?: string | undefined; last_seen_on?: string | null | undefined; second_factor?: SecondFactor | undefined; passkeys?: Array<PasskeySummary> | undefined; identities?: Array<Identity> | undefined };
export type UserChanges = { name?: string | undefined; email?: string | undefined; password?: string | undefined; attributes?: AttributeChanges | undefined; role?: "user" | "admin" | undefined; auditor?: boolean | undefined; currentPassword?: string | undefined; idToken?: string | undefined; nonce?: string | undefined };
export type Invitation = { language?: "en" | "de" | undefined };
export type NewMachine = { name: string; scopes: Array<"audit:write" | "audit:read" | "users:read" | "users:write" | "client-address">; expiresAt?: string | null | undefined };
export type MachineWithKey = { id: number; name: string; scopes: Array<"audit:write" | "audit:read" | "users:read" | "users:write" | "client-address">; expires_at: string | null; created_at: string; made_by: number | null; last_used_on: string | null; keys: Array<MachineKey>; key: string };
export type MachineKey = { created_at: string; expires_at: string | null };
export type Machines = { data: Array<Machine> };
export type Machine = { id: number; name: string; scopes: Array<"audit:write" | "audit:read" | "users:read" | "users:write" | "client-address">; expires_at: string | null; created_at: string; made_by: number | null; last_used_on: string | null; keys: Array<MachineKey> };
export type MachineChanges = { name?: string | undefined; scopes?: Array<"audit:write" | "audit:read" | "users:read" | "users:write" | "client-address"> | undefined; expiresAt?: string | null | undefined };
export type NewMachineKey = { endPrevious?: boolean | undefined };
export type NewAuditEntries = { entries: Array<NewAuditEntry> };
export type NewAuditEntry = { action: "CREATE" | "READ" | "UPDATE" | "DELETE" | "EXPORT"; resource: string; result: "SUCCESS" | "FAILURE"; resourceId?: string | null | undefined; userId?: number | null | undefined; ipAddress?: string | null | undefined; userAgent?: string | null | undefined; details?: NewAuditEntryDetails | null | undefined; occurredAt?: string | null | undefined };
export type NewAuditEntryDetails = Record<string, unknown>;
export type NewAuditEntriesStored = { data: Array<NewAuditEntryStored> };
export type NewAuditEntryStored = { id: number; created_at: string };
export type AuditEntries = { data: Array<AuditEntry> };
export type AuditEntry = { id: number; user_id: number | null; action: "CREATE" | "READ" | "UPDATE" | "DELETE" | "LOGIN" | "LOGOUT" | "EXPORT"; resource: string; resource_id: string | null; ip_address: string | null; user_agent: string | null; result: "SUCCESS" | "FAILURE"; details: string | null; created_at: string; machine_id?: number | null | undefined; occurred_at?: string | null | undefined };
export type AuditEntriesAsNdjson = string;
export type AuditEntriesAsCsv = string;
export type AuditSealSummary = { key: string; interval: number; newest: SealedFile | null; behind: number | null; check: SealCheck | null; days: AuditDays; whole: WholeSealCheck | null };
export type SealedFile = { number: number; at: string; until: string; count: number };
export type SealCheck = { at: string; until: string; entries: number; total: number; next: string; recent: boolean; findings: number; named: Array<SealFinding>; found: string | null };
export type SealFinding = { kind: string; subject: string; at: string };
export type AuditDays = { table: number; lock: number; archive: number };
export type WholeSealCheck = { asked_at: string; checked: number; of: number | null; ended_at: string | null };
export type ComparedAuditEntry = { state: "equal" | "differs" | "deleted" | "inserted" | "waits" | "left" | "too_large" | "not_found"; fields?: Array<string> | undefined; file?: number | undefined; finding?: string | undefined; stored: FoundAuditEntry | null; sealed: FoundAuditEntry | null };
export type FoundAuditEntry = { id: string | number | null; user_id: string | number | null; action: string | number | null; resource: string | number | null; resource_id: string | number | null; ip_address: string | number | null; user_agent: string | number | null; result: string | number | null; details: string | number | null; created_at: string | number | null; machine_id?: string | number | null | undefined; occurred_at?: string | number | null | undefined };
export type SealCheckRequest = { whole?: boolean | undefined };
export type Settings = { data: Array<Setting> };
export type Setting = { name: string; value: string | number; default: string | number };
export type TokenIssuer = { issuer: string; jwks_uri: string; id_token_signing_alg_values_supported: Array<string>; subject_types_supported: Array<string>; response_types_supported: Array<string> };
export type TokenKeySet = { keys: Array<TokenKey> };
export type TokenKey = Record<string, unknown>;
export type ErrorMessage = { message: string };
export type Fault = { message: string; err?: string | undefined; hashErr?: string | undefined; insertErr?: string | undefined };
export type FieldError = { pointer: string; code: string; detail: string };
export type Problem = { type: string; title: string; status: number; code: string; errors?: Array<FieldError> | undefined; retryAfter?: number | undefined; err?: string | undefined; hashErr?: string | undefined; insertErr?: string | undefined };

export interface paths {
  "/api/auth/register": {
    post: { parameters: {}; requestBody: { content: { "application/json": NewUser } }; responses: { 201: { content: { "application/json": Session } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/login": {
    post: { parameters: {}; requestBody: { content: { "application/json": Credentials } }; responses: { 200: { content: { "application/json": Session } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/refresh": {
    post: { parameters: {}; requestBody: { content: { "application/json": RefreshRequest } }; responses: { 200: { content: { "application/json": Session } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/logout": {
    post: { parameters: {}; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/profile": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": Profile } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/account-deletions": {
    post: { parameters: {}; requestBody: { content: { "application/json": AccountDeletion } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/password-resets": {
    post: { parameters: {}; requestBody: { content: { "application/json": PasswordResetRequest } }; responses: { 202: { content: { "application/json": Message } }; default: { content: { "application/problem+json": Problem } } } };
    put: { parameters: {}; requestBody: { content: { "application/json": PasswordReset } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/email-verifications": {
    post: { parameters: {}; responses: { 202: { content: { "application/json": Message } }; default: { content: { "application/problem+json": Problem } } } };
    put: { parameters: {}; requestBody: { content: { "application/json": EmailVerification } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/login/nonces": {
    post: { parameters: {}; responses: { 200: { content: { "application/json": Nonce } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/login/identity": {
    post: { parameters: {}; requestBody: { content: { "application/json": IdentityLogin } }; responses: { 200: { content: { "application/json": Session } }; 201: { content: { "application/json": Session } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/identities": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": Identities } }; default: { content: { "application/problem+json": Problem } } } };
    post: { parameters: {}; requestBody: { content: { "application/json": IdentityLink } }; responses: { 201: { content: { "application/json": Identity } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/identities/{identity}/removals": {
    post: { parameters: { path: { identity: string } }; requestBody: { content: { "application/json": IdentityRemoval } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/identities/{identity}": {
    delete: { parameters: { path: { id: number; identity: string } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/login/passkey-options": {
    post: { parameters: {}; responses: { 200: { content: { "application/json": PasskeyRequestOptions } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/login/passkey": {
    post: { parameters: {}; requestBody: { content: { "application/json": PasskeyLogin } }; responses: { 200: { content: { "application/json": Session } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/passkeys": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": Passkeys } }; default: { content: { "application/problem+json": Problem } } } };
    post: { parameters: {}; requestBody: { content: { "application/json": NewPasskey } }; responses: { 201: { content: { "application/json": Passkey } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/passkeys/options": {
    post: { parameters: {}; requestBody: { content: { "application/json": PasskeyConfirmation } }; responses: { 200: { content: { "application/json": PasskeyCreationOptions } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/passkeys/{passkey}": {
    patch: { parameters: { path: { passkey: string } }; requestBody: { content: { "application/json": PasskeyName } }; responses: { 200: { content: { "application/json": Passkey } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/passkeys/{passkey}/removals": {
    post: { parameters: { path: { passkey: string } }; requestBody: { content: { "application/json": PasskeyConfirmation } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/sessions": {
    get: { parameters: { path: { id: number } }; responses: { 200: { content: { "application/json": Sessions } }; default: { content: { "application/problem+json": Problem } } } };
    delete: { parameters: { path: { id: number } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/sessions/{session}": {
    delete: { parameters: { path: { id: number; session: string } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/second-factor": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": SecondFactor } }; default: { content: { "application/problem+json": Problem } } } };
    post: { parameters: {}; requestBody: { content: { "application/json": PasswordConfirmation } }; responses: { 201: { content: { "application/json": SecondFactorEnrolment } }; default: { content: { "application/problem+json": Problem } } } };
    put: { parameters: {}; requestBody: { content: { "application/json": CodeConfirmation } }; responses: { 200: { content: { "application/json": RecoveryCodes } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/second-factor/recovery-codes": {
    post: { parameters: {}; requestBody: { content: { "application/json": PasswordAndCode } }; responses: { 200: { content: { "application/json": RecoveryCodes } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/second-factor/removals": {
    post: { parameters: {}; requestBody: { content: { "application/json": PasswordAndCode } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users": {
    post: { parameters: {}; requestBody: { content: { "application/json": NewUserWithRole } }; responses: { 201: { content: { "application/json": User } }; default: { content: { "application/problem+json": Problem } } } };
    get: { parameters: { query?: { search?: string | undefined; limit?: number | undefined; cursor?: string | undefined; order?: "asc" | "desc" | undefined; role?: "admin" | undefined; status?: "invited" | "suspended" | "unverified" | undefined; auditor?: "true" | undefined; email?: string | undefined; attributes?: "true" | undefined; seenBefore?: string | undefined } }; responses: { 200: { content: { "application/json": Users } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}": {
    get: { parameters: { path: { id: number } }; responses: { 200: { content: { "application/json": UserDetails } }; default: { content: { "application/problem+json": Problem } } } };
    put: { parameters: { path: { id: number } }; requestBody: { content: { "application/json": UserChanges } }; responses: { 200: { content: { "application/json": User } }; default: { content: { "application/problem+json": Problem } } } };
    delete: { parameters: { path: { id: number } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/second-factor": {
    delete: { parameters: { path: { id: number } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/suspension": {
    put: { parameters: { path: { id: number } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
    delete: { parameters: { path: { id: number } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/users/{id}/invitations": {
    post: { parameters: { path: { id: number } }; requestBody?: { content: { "application/json": Invitation } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/machines": {
    post: { parameters: {}; requestBody: { content: { "application/json": NewMachine } }; responses: { 201: { content: { "application/json": MachineWithKey } }; default: { content: { "application/problem+json": Problem } } } };
    get: { parameters: {}; responses: { 200: { content: { "application/json": Machines } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/machines/{machine}": {
    get: { parameters: { path: { machine: string } }; responses: { 200: { content: { "application/json": Machine } }; default: { content: { "application/problem+json": Problem } } } };
    put: { parameters: { path: { machine: string } }; requestBody: { content: { "application/json": MachineChanges } }; responses: { 200: { content: { "application/json": Machine } }; default: { content: { "application/problem+json": Problem } } } };
    delete: { parameters: { path: { machine: string } }; responses: { 204: { content?: never }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/machines/{machine}/keys": {
    post: { parameters: { path: { machine: string } }; requestBody?: { content: { "application/json": NewMachineKey } }; responses: { 201: { content: { "application/json": MachineWithKey } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/admin/audit-logs": {
    post: { parameters: {}; requestBody: { content: { "application/json": NewAuditEntries } }; responses: { 200: { content: { "application/json": NewAuditEntriesStored } }; 201: { content: { "application/json": NewAuditEntriesStored } }; default: { content: { "application/problem+json": Problem } } } };
    get: { parameters: { query?: { userId?: number | undefined; action?: "CREATE" | "READ" | "UPDATE" | "DELETE" | "LOGIN" | "LOGOUT" | "EXPORT" | undefined; result?: "SUCCESS" | "FAILURE" | undefined; resourceId?: string | undefined; about?: number | undefined; from?: "service" | "machines" | undefined; resource?: string | undefined; machineId?: number | undefined; ipAddress?: string | undefined; since?: string | undefined; until?: string | undefined; order?: "desc" | "asc" | undefined; limit?: number | undefined; cursor?: string | undefined } }; responses: { 200: { content: { "application/json": AuditEntries; "application/x-ndjson": AuditEntriesAsNdjson; "text/csv": AuditEntriesAsCsv } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/admin/audit-seal": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": AuditSealSummary } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/admin/audit-seal/entries/{entry}": {
    get: { parameters: { path: { entry: string } }; responses: { 200: { content: { "application/json": ComparedAuditEntry } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/admin/audit-seal/checks": {
    post: { parameters: {}; requestBody?: { content: { "application/json": SealCheckRequest } }; responses: { 202: { content: { "application/json": Message } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/api/admin/settings": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": Settings } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/.well-known/openid-configuration": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": TokenIssuer } }; default: { content: { "application/problem+json": Problem } } } };
  };
  "/.well-known/jwks.json": {
    get: { parameters: {}; responses: { 200: { content: { "application/json": TokenKeySet } }; default: { content: { "application/problem+json": Problem } } } };
  };
}
