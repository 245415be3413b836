import { describe, expect, it } from 'vitest';
import { placeIn, readDeployment } from '../../infra/deployment.ts';
import { SettingError } from '../../infra/deployment-settings.ts';

describe('A deployment', () => {
  it('is `development` if no name is given', () => {
    expect(readDeployment({})).toEqual({
      name: 'development',
      place: {},
      settings: { stage: 'development' },
      notice: undefined,
    });
  });

  it('has the settings of the file that -c name= chooses, but prefers single settings of -c', () => {
    const context = {
      name: 'production',
      passwordMinLength: '20',
      docs: 'on',
      'cli-telemetry': false,
    };
    const { name, settings, notice } = readDeployment(context);

    expect(name).toBe('production');
    expect(settings).toMatchObject({ stage: 'production', passwordMinLength: '20' });
    expect(notice).toBe('by -c (for this run only) or by cdk.json: passwordMinLength=20, docs=on');
  });

  // biome-ignore format: a table
  it.each([
    [{ name: 'prod' }, 'name', 'is prod, but infra/deployments/prod.json is missing; there are development, production'],
    [{ name: '../app' }, 'name', 'must begin with a letter, and be up to 40 lower-case letters, digits and hyphens'],
    [{ name: '' }, 'name', 'must begin with a letter, and be up to 40 lower-case letters, digits and hyphens'],
    [{ stage: 'production' }, 'stage', 'may only be set in infra/deployments/development.json; choose another file with -c name=…'],
    [{ account: '123456789012' }, 'account', 'may only be set in infra/deployments/development.json; choose another file with -c name=…'],
  ])('is refused by %j', (context, name, rule) => {
    expect(() => readDeployment(context)).toThrow(new SettingError(name, rule));
  });
});

describe('The file of a deployment', () => {
  const place = { account: '123456789012', region: 'eu-west-1' };

  it('names the account and the region of its stack, with or without credentials', () => {
    expect(placeIn({ stage: 'production', ...place }, undefined)).toEqual(place);
    expect(placeIn({ stage: 'production', ...place }, place.account)).toEqual(place);
    expect(placeIn({ stage: 'production', region: 'us-gov-west-1' }, '1')).toEqual({
      region: 'us-gov-west-1',
    });
  });

  it.each([
    [{ account: '12345' }, 'account', 'must be the 12 digits of an AWS account, as text'],
    [{ region: 'Ireland' }, 'region', 'must be a region of AWS such as eu-west-1'],
    [place, 'account', 'is 123456789012, but the credentials belong to 210987654321'],
  ])('is refused with %j', (file, name, rule) => {
    expect(() => placeIn(file, '210987654321')).toThrow(new SettingError(name, rule));
  });
});
