import {
  HttpAuthorizer,
  HttpAuthorizerType,
  type IHttpRouteAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2';
import type { IDependable } from 'constructs';
import { type DeploymentSettings, SettingError } from '../deployment-settings.ts';

/**
 * Creates an authorizer for the tokens of a service. The resources that publish the keys of tokens must exist before API
 * Gateway makes it, because it then reads these keys.
 * @param own the resources of the application that must exist too, such as its distribution
 */
export function createAuthorizer(
  id: string,
  settings: DeploymentSettings,
  url: string,
  { publishing, own }: { publishing: readonly IDependable[]; own: readonly IDependable[] },
): IHttpRouteAuthorizer {
  if (settings.tokenSigning === 'HS256') {
    throw new SettingError(
      'tokenSigning',
      'is HS256, whose tokens only the service itself verifies: an authorizer requires RS256',
    );
  }
  if (settings.edge === 'cloudfront' && own.length === 0) {
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
      authorizer.node.addDependency(...publishing, ...own);
      return { authorizerId: authorizer.authorizerId, authorizationType: 'JWT' };
    },
  };
}
