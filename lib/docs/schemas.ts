/** Schemas in words, as tables of fields, and the section of those that have a name. */
import type { OpenApiDocument } from '../contract/document.ts';
import { type Parameter, refName, type Schema } from './document.ts';
import { type Html, html, joined } from './html.ts';
import { markdown } from './markdown.ts';

const schemaId = (name: string): string => `schema-${name}`;

const range = (
  least: number | undefined,
  most: number | undefined,
  unit = '',
): readonly string[] => {
  const counted = (count: number) =>
    `${count}${unit && ` ${unit}`}${unit && count !== 1 ? 's' : ''}`;
  if (most === undefined) return least === undefined ? [] : [`at least ${counted(least)}`];
  if (least === undefined) return [`at most ${counted(most)}`];
  return [least === most ? `exactly ${counted(most)}` : `${least} to ${counted(most)}`];
};

const limits = (schema: Schema): readonly (Html | string)[] => [
  ...(schema.format ? [schema.format] : []),
  ...range(schema.minLength, schema.maxLength, 'character'),
  ...range(schema.minimum, schema.maximum),
  ...range(schema.minItems, schema.maxItems, 'item'),
  ...range(schema.minProperties, schema.maxProperties, 'field'),
  ...(schema.pattern ? [html`matches <code>${schema.pattern}</code>`] : []),
  ...(schema.default === undefined ? [] : [`${schema.default} by default`]),
];

/** A schema's type and limits in words, with a link where it has a name. */
export const typeOf = (schema: Schema): Html => {
  const { $ref, anyOf, items } = schema;
  if ($ref) return html`<a href="#${schemaId(refName($ref))}">${refName($ref)}</a>`;
  if (anyOf) return joined(anyOf.map(typeOf), ' or ');
  if (schema.enum) {
    return joined(
      schema.enum.map((value) => html`<code>${String(value)}</code>`),
      ', ',
    );
  }
  if (items) return html`array of ${typeOf(items)}`;
  return joined([...(schema.type ? [schema.type] : []), ...limits(schema)], ', ');
};

interface Field {
  readonly name: string;
  /** Stands under the name. */
  readonly note: string | undefined;
  readonly schema: Schema;
  readonly description: string | undefined;
}

/** The fields of an object, and those of objects in it that have no name. */
const fieldsOf = (schema: Schema, prefix = ''): readonly Field[] => {
  if (schema.items) return fieldsOf(schema.items, `${prefix.replace(/\.$/, '')}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    const note = schema.required?.includes(key) ? 'required' : undefined;
    return [
      { name, note, schema: property, description: property.description },
      ...fieldsOf(property, `${name}.`),
    ];
  });
};

const fieldRow = ({ name, note, schema, description }: Field): Html => html`<tr>
<th scope="row"><code>${name}</code>${note && html` <small>${note}</small>`}</th>
<td>${typeOf(schema)}${markdown(description)}</td></tr>
`;

const table = (label: string, fields: readonly Field[]): Html | undefined =>
  fields.length === 0
    ? undefined
    : html`<table><thead><tr><th scope="col">${label}</th><th scope="col">Type and rules</th></tr></thead>
<tbody>
${fields.map(fieldRow)}</tbody></table>
`;

export const parameterTable = (parameters: readonly Parameter[]): Html | undefined =>
  table(
    'Parameter',
    parameters.map(({ name, required, schema, description, in: place }) => ({
      ...{ name, schema, description },
      note: required ? `${place}, required` : place,
    })),
  );

/** The fields of an object; nothing for what has none, or is a schema with a name. */
export const fieldTable = (schema: Schema): Html | undefined => table('Field', fieldsOf(schema));

const section = ([name, schema]: readonly [
  string,
  Schema,
]): Html => html`<section id="${schemaId(name)}">
<h3><a href="#${schemaId(name)}">${name}</a></h3>
${markdown(schema.description)}<p>${typeOf(schema)}</p>
${fieldTable(schema)}</section>
`;

type Problem = OpenApiDocument['components']['schemas']['Problem'];

/** The codes of errors have a section of their own. */
const withoutCodes = ({ properties, ...problem }: Problem): Schema => {
  const { code } = properties;
  const description = code.description.replace(/\n\n.*/s, ' See [Errors](#errors).');
  return { ...problem, properties: { ...properties, code: { ...code, description } } };
};

export const schemasSection = ({ components: { schemas } }: OpenApiDocument): Html => {
  const shown = Object.entries<Schema>({ ...schemas, Problem: withoutCodes(schemas.Problem) });
  return html`<section id="schemas">
<h2><a href="#schemas">Schemas</a></h2>
${shown.map(section)}</section>
`;
};
