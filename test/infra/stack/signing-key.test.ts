import { describe, expect, it } from 'vitest';
import { production, resourcesOf, synthesise, target } from './template.ts';

const on = { tokenSigning: 'RS256' };
const keyOf = (settings = {}) =>
  resourcesOf(synthesise(settings), 'AWS::KMS::Key').get('TokenSigningKey');

describe('The key of tokens', () => {
  it('is made where the settings say so, kept in production, and has no alias of the template', () => {
    expect(keyOf()).toBeUndefined();
    expect(keyOf(on)).toMatchObject({
      Properties: { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' },
      DeletionPolicy: 'Delete',
    });
    expect(keyOf({ ...production, ...on })).toMatchObject({ DeletionPolicy: 'Retain' });
    expect(resourcesOf(synthesise(on), 'AWS::KMS::Alias').size).toBe(0);
  });

  it('has successors that functions use by their aliases alone', () => {
    const policies = resourcesOf(synthesise(on), 'AWS::IAM::Policy');
    const policy = policies.get('AuthLoginRoleDefaultPolicy')?.Properties.PolicyDocument;
    const names = ['next', 'current', 'previous'].map(
      (stage) => `alias/accounts/token-signing-${stage}`,
    );
    const aliases = { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': names } };
    const signing = {
      StringEquals: {
        'kms:SigningAlgorithm': 'RSASSA_PKCS1_V1_5_SHA_256',
        'kms:MessageType': 'DIGEST',
      },
    };

    const conditions = (policy.Statement as readonly Record<string, unknown>[])
      .filter(({ Action }) => String(Action).startsWith('kms:'))
      .map(({ Action, Resource, Condition }) => [Action, [Resource].flat().length, Condition]);

    expect(conditions).toEqual([
      ['kms:GetPublicKey', 4, undefined],
      ['kms:GetPublicKey', 1, aliases],
      ['kms:Sign', 4, signing],
      ['kms:Sign', 1, { ...signing, ...aliases }],
    ]);
  });

  it('is told to the operator’s command, and signs for the address of the API', () => {
    const domain = synthesise({ ...production, ...on });
    const login = resourcesOf(domain, 'AWS::Lambda::Function').get('AuthLoginFunction');

    expect(target(login?.Properties.Environment.Variables.API_URL)).toBe('https://Domain');
    const settings = JSON.stringify(synthesise(on).findResources('AWS::SSM::Parameter'));
    expect(settings).toMatch(/TOKEN_SIGNING_KEY.*TokenSigningKey.*alias\/accounts\/token-signing-/);
  });
});
