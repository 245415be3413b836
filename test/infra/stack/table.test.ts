import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plainId, production, resourcesOf, synthesise, target } from './template.ts';

it('No index of the users table has password hashes', () => {
  const table = resourcesOf(synthesise(), 'AWS::DynamoDB::Table').get('UsersTable');
  for (const { Projection } of table?.Properties.GlobalSecondaryIndexes ?? []) {
    expect(Projection.ProjectionType).toBe('INCLUDE');
    expect(Projection.NonKeyAttributes).not.toContain('password_hash');
  }
});

it.each([
  ['accounts-audit-restored', 'AuditTable'],
  ['accounts-users-restored', 'UsersTable'],
])('The runbook adds to the table %s of 1.0.0 the index that the stack adds', (name, id) => {
  const all = readFileSync('infra/runbooks.md', 'utf8');
  const runbooks = all.slice(all.indexOf(`aws dynamodb update-table --table-name ${name}`));
  const [, json = ''] = /--global-secondary-index-updates '(.*?)'/s.exec(runbooks) ?? [];
  const [{ Create: added }] = JSON.parse(json);

  const table = resourcesOf(synthesise(), 'AWS::DynamoDB::Table').get(id)?.Properties;
  expect(table?.GlobalSecondaryIndexes.at(-1)).toEqual(added);
  for (const { AttributeName: name } of added.KeySchema) {
    expect(runbooks).toContain(` AttributeName=${name},AttributeType=S `);
    expect(table?.AttributeDefinitions).toContainEqual({ AttributeName: name, AttributeType: 'S' });
  }
});

describe('tables that another stack has left', () => {
  const names = { usersTableName: 'users-kept', auditTableName: 'audit-kept' };

  /** A template whose references are replaced by what they lead to. */
  const readable = (context: Readonly<Record<string, unknown>>) =>
    JSON.stringify(synthesise(context).toJSON(), (_, value) =>
      value?.Ref || value?.['Fn::GetAtt'] || value?.['Fn::Join'] ? target(value) : value,
    );
  const withoutTables = (template: string) => {
    const { Resources, ...others } = JSON.parse(template);
    const kept = Object.entries(Resources).filter(
      ([id]) => !/^(Users|Audit)Table/.test(plainId(id)),
    );
    return { ...others, Resources: Object.fromEntries(kept) };
  };

  it.each([
    ['development', {}],
    ['production', production],
  ])('are used in %s like tables of the stack', (_, settings) => {
    const takenOver = readable({ ...settings, ...names })
      .replaceAll('arn:AWS::Partition:dynamodb:AWS::Region:AWS::AccountId:table/', '')
      .replaceAll('users-kept', 'UsersTable')
      .replaceAll('audit-kept', 'AuditTable');

    expect(withoutTables(takenOver)).toEqual(withoutTables(readable(settings)));
    expect(resourcesOf(synthesise({ ...settings, ...names }), 'AWS::DynamoDB::Table').size).toBe(0);
  });

  it('are refused by a stack with own tables, and a stack that uses them gets no tables of its own', () => {
    const resource = (context: Readonly<Record<string, unknown>>, id: string) =>
      Object.entries(synthesise(context).toJSON().Resources).filter(([each]) => each === id);

    // CloudFormation updates no resource to another type.
    for (const id of Object.keys(synthesise().findResources('AWS::DynamoDB::Table'))) {
      expect(resource(names, id)).toEqual([
        [id, { Type: 'AWS::CloudFormation::WaitConditionHandle' }],
      ]);
    }
  });
});
