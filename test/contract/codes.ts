/** The codes of errors, by which programs tell them apart: none may go, or get another status. */
import { readFileSync } from 'node:fs';

interface Document {
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: { readonly status?: number } }>>;
    readonly schemas: {
      readonly FieldError: {
        readonly properties: { readonly code: { readonly description: string } };
      };
    };
  };
}

const codesIn = (file: string): ReadonlySet<string> => {
  const { components }: Document = JSON.parse(readFileSync(file, 'utf8'));
  const ofErrors = Object.entries(components.examples)
    .filter(([name]) => name.endsWith('.problem'))
    .map(([name, { value }]) => `${name.replace('.problem', '')} (${value.status})`);
  const { description } = components.schemas.FieldError.properties.code;
  const ofFields = [...description.matchAll(/^- `(\w+)`/gm)].map(
    ([, code]) => `${code} of a field`,
  );
  return new Set([...ofErrors, ...ofFields]);
};

const [before = '', after = ''] = process.argv.slice(2);
const left = codesIn(after);
const gone = [...codesIn(before)].filter((code) => !left.has(code));
for (const code of gone) console.log(`The code ${code} was removed, or has another status.`);
if (gone.length > 0) process.exitCode = 1;
