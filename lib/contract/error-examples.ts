import * as v from 'valibot';
import {
  type DomainError,
  type ErrorCode,
  errorCodes,
  httpErrors,
  missingField,
  problemOfField,
} from '../errors.ts';
import type { ServiceValues } from '../settings.ts';
import { parseBody } from '../validation.ts';
import type { BodySchema, Contract, Description, Endpoint } from './contract.ts';

type Json = Readonly<Record<string, unknown>>;

/** The form of an error: the default one, or problem details. */
export type ErrorForm = 'plain' | 'problem';

/** An example of an error, of which both forms are made. */
interface Example {
  readonly title: string | undefined;
  readonly fault?: Json;
  readonly errors?: readonly Json[];
}

/** A text that is too long for most fields, and not allowed for any parameter. */
const wrong = `${'x'.repeat(300)}@example.org`;

const refusalOf = (check: () => unknown): readonly DomainError[] => {
  try {
    check();
    return [];
  } catch (error) {
    return [error as DomainError];
  }
};

const exampleOf = ({ message: title, faults }: DomainError): Example => ({
  title,
  ...(faults.length > 0 ? { errors: faults.map(problemOfField) } : {}),
});

/** The first refusal when one field of the example of a body after the other is made wrong. */
const invalidField = (contract: Contract, description: Description): Example => {
  const { body = contract.body?.('admin'), bodyExample = {} } = description;
  if (!body) throw new Error('An endpoint without a body has no field that could be invalid.');
  const [first] = Object.keys(bodyExample).flatMap((field) =>
    refusalOf(() => parseBody(body, { ...bodyExample, [field]: wrong })),
  );
  if (!first) throw new Error(`No rule of ${Object.keys(bodyExample)} can be broken by a text.`);
  return exampleOf(first);
};

const invalidParameter = (contract: Contract): Example => {
  const query = contract.query?.(undefined) ?? {};
  const [first] = Object.keys(query).flatMap((field) =>
    refusalOf(() => parseBody(v.object(query), { [field]: wrong })),
  );
  return { title: first?.message };
};

const storageFault = ({ storageFault }: Contract): Example => {
  const [title, field = 'err'] = storageFault ?? [];
  return { title, fault: { [field]: 'ECONNREFUSED' } };
};

/** The errors whose example depends on the endpoint. */
const ownExamples: Partial<
  Record<ErrorCode, (contract: Contract, description: Description) => Example>
> = {
  FIELD_INVALID: invalidField,
  PARAMETER_INVALID: invalidParameter,
  STORAGE_FAULT: storageFault,
};

/** Refusals of bodies that lack a field, by their codes. */
const missingFields = (
  endpoints: readonly Endpoint[],
  settings: ServiceValues,
): ReadonlyMap<ErrorCode, DomainError> => {
  const refusals = endpoints.flatMap(({ contract, describe }) => {
    const { body = contract.body?.('admin'), bodyExample = {} } = describe(settings);
    return Object.keys(body ? bodyExample : {}).flatMap((field) => {
      const { [field]: _, ...others } = bodyExample;
      return refusalOf(() => parseBody(body as BodySchema, others, contract));
    });
  });
  // Where users may confirm by an ID token, no rule of a body requires it.
  const password = missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
  return new Map([password, ...refusals].map((refusal) => [refusal.code, refusal]));
};

const sharedExample = (code: ErrorCode, refusal: DomainError | undefined): Example => {
  const { message: title, field } = httpErrors[code];
  if (refusal) return exampleOf(refusal);
  return { title, ...(field ? { fault: { [field]: 'ECONNREFUSED' } } : {}) };
};

const inBothForms = (
  code: ErrorCode,
  { title, fault, errors }: Example,
): Record<ErrorForm, Json> => {
  const { status } = httpErrors[code];
  return {
    plain: { message: title, ...fault },
    problem: {
      type: `/docs#${code}`,
      title,
      status,
      code,
      ...(errors ? { errors } : {}),
      ...(status === 429 ? { retryAfter: 30 } : {}),
      ...fault,
    },
  };
};

/** The example of an error in both forms, where it depends on the operation. */
export const ownExample = (
  code: ErrorCode,
  contract: Contract,
  description: Description,
): Record<ErrorForm, Json> | undefined => {
  const make = ownExamples[code];
  return make && inBothForms(code, make(contract, description));
};

/** The name of an error's example in the document. */
export const exampleName = (code: ErrorCode, form: ErrorForm): string =>
  form === 'plain' ? code : `${code}.problem`;

/** The examples that endpoints share. */
export const sharedExamples = (
  endpoints: readonly Endpoint[],
  settings: ServiceValues,
): Readonly<Record<string, Json>> => {
  const refusals = missingFields(endpoints, settings);
  const shared = errorCodes.filter((code) => !(code in ownExamples));
  return Object.fromEntries(
    shared.flatMap((code) => {
      const forms = inBothForms(code, sharedExample(code, refusals.get(code)));
      return (['plain', 'problem'] as const).map((form) => [
        exampleName(code, form),
        { value: forms[form] },
      ]);
    }),
  );
};
