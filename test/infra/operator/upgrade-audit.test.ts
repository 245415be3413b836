import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { register } from '../../support/client.ts';
import { operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { engineClient, scan } from '../../support/stored-items.ts';

const service = await operatedServiceForThisFile();
const { AUDIT_TABLE: TableName = '' } = service.environment;

/** Takes from the entries what an earlier version did not write. @returns how many lack it now */
const makeEarlier = async (): Promise<number> => {
  const client = engineClient(inject('engine'));
  const items = await scan(inject('engine'), TableName);
  for (const { id } of items) {
    const UpdateExpression = 'REMOVE resource_key, failure_shard';
    await client.send(new UpdateCommand({ TableName, Key: { id }, UpdateExpression }));
  }
  client.destroy();
  return items.filter(
    ({ resource_key, failure_shard }) => (resource_key ?? failure_shard) !== undefined,
  ).length;
};

const query = async (parameters: string) => {
  const { body } = await service.api('GET', `/api/admin/audit-logs?${parameters}`, {
    token: service.adminToken,
  });
  return body.data;
};

describe('upgrade-audit', () => {
  it('has the query find entries of an earlier version, and changes nothing else', async () => {
    const { id, email } = await register(service.api);
    await service.api('POST', '/api/login', { json: { email, password: 'wrong' } });
    const [byResource, failures] = [`resourceId=${id}`, `resourceId=${id}&result=FAILURE`];
    const before = await scan(inject('engine'), TableName);
    const found = [await query(byResource), await query(failures)];
    const lacking = await makeEarlier();
    const lost = await query(byResource);

    const { status, stdout } = await service.operate(['upgrade-audit']);

    expect(found.map(({ length }) => length)).toEqual([2, 1]);
    expect(lost).toEqual([]);
    expect([status, stdout]).toEqual([
      0,
      `Entries read: ${before.length}. Filled in: ${lacking}.\n`,
    ]);
    expect([await query(byResource), await query(failures)]).toEqual(found);
    const after = await scan(inject('engine'), TableName);
    expect(after).toEqual(expect.arrayContaining([...before]));
  });

  it('does nothing more when it is run again, and leaves an entry each time', async () => {
    const before = (await scan(inject('engine'), TableName)).length;

    const { status, stdout } = await service.operate(['upgrade-audit']);

    expect([status, stdout]).toEqual([0, `Entries read: ${before}. Filled in: 0.\n`]);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('upgrade-audit', {
        action: 'UPDATE',
        resource: 'audit-logs',
        details: { read: before, filled: 0 },
      }),
    );
  });
});
