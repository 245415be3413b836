/** A part of the document, as JSON has it. */
export type Json = Readonly<Record<string, unknown>>;

/** Refers to a component of the document. */
export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Headers of every response of a function. */
export const commonHeaders = {
  'Cache-Control': ref('headers', 'Cache-Control'),
  'X-Request-Id': ref('headers', 'X-Request-Id'),
};

/** What a part of the document refers to, as `schemas/User`. */
const references = (part: unknown): readonly string[] =>
  JSON.stringify(part).match(/(?<="\$ref":"#\/components\/)[^"]+/g) ?? [];

/** The components that are left when those which nothing refers to are taken out. */
export const usedComponents = <Components extends Readonly<Record<string, Json>>>(
  all: Components,
  paths: unknown,
): Components => {
  const used = new Set(references(paths));
  // The set grows while it is walked.
  for (const name of used) {
    const [kind, key] = name.split('/') as [string, string];
    for (const further of references(all[kind]?.[key])) used.add(further);
  }
  const kept = Object.entries(all).map(([kind, parts]) => {
    const isUsed = ([key]: readonly [string, unknown]) =>
      kind === 'securitySchemes' || used.has(`${kind}/${key}`);
    return [kind, Object.fromEntries(Object.entries(parts).filter(isUsed))];
  });
  return Object.fromEntries(kept);
};
