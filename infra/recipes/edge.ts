/**
 * A CloudFront distribution with a web ACL in front of a deployment with `edge=cloudfront` (infra/runbooks.md,
 * CloudFront). It is an application of its own, which an operator deploys.
 */
import { App, CfnParameter, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { CfnIPSet, CfnWebACL } from 'aws-cdk-lib/aws-wafv2';

const stack = new Stack(new App(), 'accounts-edge', { env: { region: 'us-east-1' } });
const visibilityConfig = {
  cloudWatchMetricsEnabled: true,
  metricName: 'accounts',
  sampledRequestsEnabled: true,
};
/** The addresses of your own backends in front, which the limit leaves out; without one an empty list. */
const backends = new CfnIPSet(stack, 'Backends', {
  scope: 'CLOUDFRONT',
  ipAddressVersion: 'IPV4',
  addresses: ['203.0.113.7/32'],
});
const ofBackends = { ipSetReferenceStatement: { arn: backends.attrArn } };
const rateBasedStatement = {
  limit: 1000,
  aggregateKeyType: 'IP',
  scopeDownStatement: { notStatement: { statement: ofBackends } },
};
const webAcl = new CfnWebACL(stack, 'WebAcl', {
  scope: 'CLOUDFRONT',
  defaultAction: { allow: {} },
  visibilityConfig,
  rules: [
    {
      name: 'rate',
      priority: 0,
      action: { block: {} },
      visibilityConfig,
      statement: { rateBasedStatement },
    },
  ],
});
const customHeaders = { 'x-origin-verify': parameter('Header', true) };
new cloudfront.Distribution(stack, 'Distribution', {
  domainNames: [parameter('DomainName')],
  certificate: Certificate.fromCertificateArn(stack, 'Certificate', parameter('CertificateArn')),
  webAclId: webAcl.attrArn,
  defaultBehavior: {
    origin: new HttpOrigin(parameter('DomainTarget'), { customHeaders }),
    allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
    cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
    // Has the viewer's Host, by which the gateway finds the API, and the viewer's address.
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_AND_CLOUDFRONT_2022,
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
  },
});

function parameter(id: string, noEcho = false) {
  return new CfnParameter(stack, id, { noEcho }).valueAsString;
}
