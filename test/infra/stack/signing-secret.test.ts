import { describe, expect, it } from 'vitest';
import { production, resourcesOf, synthesise } from './template.ts';

const secret = (context = {}) =>
  resourcesOf(synthesise(context), 'AWS::SecretsManager::Secret').get('SigningSecret');

describe('the signing secret', () => {
  it('is made by Secrets Manager, 64 letters and digits, and no value is in the template', () => {
    const properties = secret()?.Properties;

    expect(properties.GenerateSecretString).toEqual({
      PasswordLength: 64,
      ExcludePunctuation: true,
    });
    expect(properties).not.toHaveProperty('SecretString');
  });

  it('is read by nothing at deployment: no dynamic reference resolves it', () => {
    const text = JSON.stringify(synthesise(production).toJSON());

    expect(text).toContain('SigningSecret');
    expect(text).not.toContain('resolve:secretsmanager');
  });

  it('outlives the stack in production, and goes with it in development', () => {
    expect(secret(production)?.DeletionPolicy).toBe('Retain');
    expect(secret()?.DeletionPolicy).toBe('Delete');
  });
});
