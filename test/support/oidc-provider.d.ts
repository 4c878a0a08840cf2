/** As much of the provider as the tests use. It ships no types. */
declare module 'oidc-provider' {
  export class Provider {
    constructor(
      issuer: string,
      configuration: Readonly<Record<string, unknown>> & {
        readonly findAccount: (context: unknown, id: string) => object;
      },
    );
    callback(): (request: unknown, response: unknown) => void;
  }
}
