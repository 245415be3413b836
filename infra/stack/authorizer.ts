import {
  HttpAuthorizer,
  HttpAuthorizerType,
  type IHttpRouteAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2';
import type { IDependable } from 'constructs';
import { type DeploymentSettings, SettingError } from '../deployment-settings.ts';

/**
 * Creates an authorizer for the tokens of a service.
 * @param after the resources that must exist before API Gateway makes the authorizer, because it then reads the keys of
 *   tokens. If the service is behind a distribution, it must be among them
 */
export function createAuthorizer(
  id: string,
  settings: DeploymentSettings,
  {
    url,
    after,
    isBehindDistribution,
  }: { url: string; after: readonly IDependable[]; isBehindDistribution: boolean },
): IHttpRouteAuthorizer {
  if (settings.tokenSigning === 'HS256') {
    throw new SettingError(
      'tokenSigning',
      'is HS256, whose tokens only the service itself verifies: an authorizer requires RS256',
    );
  }
  if (settings.edge === 'cloudfront' && !isBehindDistribution) {
    throw new SettingError(
      'edge',
      'is cloudfront: an authorizer requires the distribution, as in authorizer(id, distribution)',
    );
  }
  const issuer = settings.tokenIssuer || url;
  let authorizer: HttpAuthorizer | undefined;
  return {
    bind({ scope, route }) {
      authorizer ??= new HttpAuthorizer(scope, id, {
        httpApi: route.httpApi,
        authorizerName: id,
        type: HttpAuthorizerType.JWT,
        identitySource: ['$request.header.Authorization'],
        jwtIssuer: issuer,
        jwtAudience: [settings.tokenAudience || issuer],
      });
      authorizer.node.addDependency(...after);
      return { authorizerId: authorizer.authorizerId, authorizationType: 'JWT' };
    },
  };
}
