import { expect, it } from 'vitest';
import { production, resourcesOf, synthesise } from './template.ts';

const on = { tokenSigning: 'RS256' };
const keyOf = (settings = {}) =>
  resourcesOf(synthesise(settings), 'AWS::KMS::Key').get('TokenSigningKey');

it('The key of tokens is made if the settings say so, is kept in production, and gets no alias', () => {
  expect(keyOf()).toBeUndefined();
  expect(keyOf(on)).toMatchObject({
    Properties: { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' },
    DeletionPolicy: 'Delete',
  });
  expect(keyOf({ ...production, ...on })).toMatchObject({ DeletionPolicy: 'Retain' });
  expect(resourcesOf(synthesise(on), 'AWS::KMS::Alias').size).toBe(0);
});
