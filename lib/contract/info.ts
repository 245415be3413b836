/** What the document says of the service as a whole. */
export const info = {
  title: 'Accounts service',
  version: '1.0.0',
  description: `User accounts, authentication and an audit trail.

**Errors** are \`{"message": …}\`, a 500 with one further field that names the fault. The header \`Error-Code\` has the code of the error, for programs. A request with \`Accept: application/problem+json\` gets them as problem details (RFC 9457), with the code and every fault of its body.

**Input.** Bodies are JSON objects in UTF-8, 64 KiB at most, of type \`application/json\` or another \`…+json\`. Unknown fields are ignored; a key \`__proto__\`, or \`constructor\` with \`prototype\`, is refused at any depth. Text must be well-formed Unicode; its length counts in code points.

**Order of checks.** Token (401), role (403), body and parameters (400, 413), existence (404), conflict (409): who breaks several rules hears of the first.

**Pages of other origins** that are allowed can read \`Error-Code\`, \`Link\`, \`Retry-After\`, \`X-Request-Id\` and \`apigw-requestid\`.

**Compatibility.** New operations, optional fields and parameters, fields of responses and error codes may come at any time: ignore what you do not know. Anything else that would break a client gets a path of its own, and what it replaces is marked as \`deprecated\` here first.`,
  license: { name: 'MIT', identifier: 'MIT' },
};

/** The groups of operations, in their order. */
export const tags = [
  { name: 'Accounts', description: 'Registration, login and the caller’s own profile.' },
  { name: 'Users', description: 'Users, read and changed by those who have a token.' },
  { name: 'Audit trail', description: 'What was done, by whom and from where. For admins.' },
  {
    name: 'Users in memory',
    description: 'A demonstration: users in the memory of one process, open to anyone.',
  },
  { name: 'Documentation', description: 'This document.' },
];
