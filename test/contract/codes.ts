/** The codes of errors, by which programs tell them apart: none may go, or get another status. */
import { readFileSync } from 'node:fs';

// biome-ignore lint/suspicious/noExplicitAny: the document is read as the JSON that it is
type Json = any;

/** Of the errors of all operations, by their examples of problem details. */
const codesIn = (file: string): ReadonlySet<string> => {
  const { paths, components }: Json = JSON.parse(readFileSync(file, 'utf8'));
  const examples = Object.values<Json>(paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .flatMap(({ responses }) => Object.values<Json>(responses))
    .flatMap(({ content }) =>
      Object.entries<Json>(content?.['application/problem+json']?.examples ?? {}),
    );
  const ofErrors = examples.flatMap(([code, example]) => {
    const name: string | undefined = example.$ref?.replace('#/components/examples/', '');
    const { value } = (name === undefined ? example : components.examples[name]) ?? {};
    return value ? [`${code} (${value.status})`] : [];
  });
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
