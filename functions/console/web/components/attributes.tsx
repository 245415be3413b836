/** The attributes that an app keeps of a user, each in a field of its type. */
import type { AttributeChanges } from '../../../client/paths.ts';
import type { Attribute } from '../../page-data.ts';
import { settings } from '../api.ts';
import { isAdmin } from '../session.ts';
import { Field, Form, Select } from './form.tsx';
import { tell } from './notice.tsx';
import { changeUser, isOwn, type UserProps } from './profile.tsx';
import { Card } from './screen.tsx';

const yesAndNo = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

/** Whether the user who is signed in may write an attribute of a user. */
const mayWrite = ({ writer }: Attribute, user: UserProps['user']): boolean =>
  isAdmin() || (isOwn(user) && writer === 'user');

/** The name of an attribute's field, as in errors. */
const fieldOf = ({ name }: Attribute): string => `attributes/${name}`;

/** The values and their texts, in the order of the declaration: an object would reorder values that are numbers. */
const optionsOf = ({ type, choices = [] }: Attribute): Map<string, string> =>
  new Map([
    ['', 'Not set'],
    ...(type === 'boolean' ? yesAndNo : choices.map((each) => [each, each] as const)),
  ]);

const AttributeField = ({ attribute, value }: { attribute: Attribute; value: string }) => {
  const { name: label, type } = attribute;
  const field = { label, name: fieldOf(attribute), defaultValue: value };
  if (type === 'boolean' || type === 'choice') {
    return <Select {...field} options={optionsOf(attribute)} />;
  }
  if (type === 'number') return <Field {...field} type="number" step="any" autoComplete="off" />;
  return <Field {...field} type={type} autoComplete="off" />;
};

/** The value that the text of a field means; null: no value. */
const meant = ({ type }: Attribute, text: string): AttributeChanges[string] => {
  if (text === '') return null;
  if (type === 'boolean') return text === 'true';
  return type === 'number' ? Number(text) : text;
};

export const Attributes = ({ user, changed }: UserProps) => {
  const { attributes: stored = {} } = user;
  const textOf = ({ name }: Attribute): string => String(stored[name] ?? '');
  const written = (settings.attributes ?? []).filter((each) => mayWrite(each, user));
  const others = (settings.attributes ?? []).filter((each) => !written.includes(each));
  const save = async (given: Readonly<Record<string, string>>) => {
    const changes = written
      .map((each) => [each, given[fieldOf(each)] ?? ''] as const)
      .filter(([each, text]) => text !== textOf(each))
      .map(([each, text]) => [each.name, meant(each, text)] as const);
    if (changes.length > 0) await changeUser(user.id, { attributes: Object.fromEntries(changes) });
    await changed();
    tell('The attributes are saved.');
  };
  return (
    <Card title="Attributes">
      {others.length > 0 && (
        <dl>
          {others.map((each) => (
            <div key={each.name}>
              <dt>{each.name}</dt>
              <dd>{textOf(each) || 'Not set'}</dd>
            </div>
          ))}
        </dl>
      )}
      {written.length > 0 && (
        <Form
          act={save}
          failed="The attributes were not saved"
          submit="Save the attributes"
          resetOn={user}
        >
          <div class="columns">
            {written.map((each) => (
              <AttributeField key={each.name} attribute={each} value={textOf(each)} />
            ))}
          </div>
        </Form>
      )}
    </Card>
  );
};
