import { RemovalPolicy } from 'aws-cdk-lib';
import type { DeploymentSettings } from '../deployment-settings.ts';

/** Whether data and keys outlive the stack, and are protected against deletion. */
export function areKept({ stage }: DeploymentSettings): boolean {
  return stage === 'production';
}

export function removalOf(settings: DeploymentSettings): RemovalPolicy {
  return areKept(settings) ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}
