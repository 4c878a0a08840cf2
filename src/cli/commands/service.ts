import { as, ID, reason, type Spec } from '../spec.ts';

const parallel = { flags: '--parallel <runs>', about: 'runs at once; without it as many as there are cores' };

/** The service, the executor, and the tokens of agents. */
export const SERVICE: readonly Spec[] = [
  {
    name: 'serve',
    about: 'answer agents and people over HTTP, on this machine, and run what is ordered',
    options: [
      { flags: '--port <number>', about: 'another port than 7717; a passkey belongs to an exact address' },
      { flags: '--host <address>', about: 'another address than localhost; nothing here is encrypted' },
      {
        flags: '--public-url <url>',
        about: 'the https:// address of a proxy before it; links and passkeys are for that',
      },
      { flags: '--oidc-issuer <url>', about: 'an OpenID Connect provider, by which people open sessions' },
      { flags: '--oidc-client <id>', about: 'the client id of this service there' },
      { flags: '--oidc-secret-file <file>', about: 'a file with its secret, if it has one' },
      {
        flags: '--oidc-claim <claim>',
        about: 'the claim that says who it is; sub unless told, which needs --oidc-name',
      },
      {
        flags: '--oidc-name <value=name>',
        about: 'which value is which human; without it the value of --oidc-claim is the name; once for each',
        many: true,
      },
      {
        flags: '--oauth-issuer <url>',
        about: 'an authorization server, whose access tokens agents show at /mcp',
      },
      { flags: '--oauth-claim <claim>', about: 'the claim that says which agent it is; sub unless told' },
      {
        flags: '--oauth-name <value=name>',
        about: 'which value is which agent; without it the value is the name; once for each',
        many: true,
      },
      { flags: '--no-execute', about: 'run nothing here' },
      {
        flags: '--no-link',
        about:
          'print no link to the console, where the output is kept in a journal; `keyturn link` prints one',
      },
      parallel,
    ],
    examples: [
      'keyturn serve',
      'keyturn serve --port 8080 --no-execute',
      'keyturn serve --public-url https://keys.example.org --oidc-issuer https://login.example.org --oidc-client keyturn --oidc-name 248289761001=ada',
    ],
    host_only: true,
    load: async () => (await import('../command/serve.ts')).serve,
  },
  {
    name: 'link',
    about: 'a new link to the console of the service of this project, which works once, for 5 minutes',
    examples: ['keyturn link'],
    host_only: true,
    load: async () => (await import('../command/serve.ts')).link,
  },
  {
    name: 'execute',
    about: 'run what is ordered for this host, as the orders come, without a service',
    options: [
      {
        flags: '--control-plane <url>',
        about: 'the service that issues what is ordered, for a host without a control key',
      },
      parallel,
    ],
    examples: ['keyturn execute', 'keyturn execute --control-plane https://keys.example.org'],
    host_only: true,
    load: async () => (await import('../command/serve.ts')).execute,
  },
  {
    name: 'login',
    about:
      'say once who you are at a service elsewhere; from then on --service asks it, and your key signs here',
    options: [
      { flags: '--as <name>', about: 'your name there', required: true },
      { flags: '--key <file>', about: 'your key file, as a human; its passphrase goes nowhere' },
      { flags: '--agent-key <file>', about: 'the key of an agent, which then signs each request' },
    ],
    examples: [
      'keyturn login --service https://keys.example.org --as ada --key ~/ada.json',
      'keyturn login --service http://localhost:7717 --as scout --agent-key scout.key',
    ],
    load: async () => (await import('../command/login.ts')).login,
  },
  {
    name: 'logout',
    about: 'end the login at a service, there and here; the key file stays',
    examples: ['keyturn logout --service https://keys.example.org'],
    load: async () => (await import('../command/login.ts')).logout,
  },
  {
    name: 'notify test',
    about: 'send a test message to the targets of notifications that this host has',
    operands: [{ name: '[target]', about: 'only this one' }],
    examples: ['keyturn notify test', 'keyturn notify test team-chat'],
    host_only: true,
    load: async () => (await import('../command/notify.ts')).test,
  },
  {
    name: 'token add',
    about: 'a new token by which an agent shows a service who it is; printed once',
    operands: [{ name: '<agent>', about: 'an agent that is enrolled' }],
    options: [reason, as],
    examples: ['keyturn token add bot --reason "the build server"'],
    load: async () => (await import('../command/token.ts')).add,
  },
  {
    name: 'token list',
    about: 'list tokens, by whom they were added, and when each was used last',
    examples: ['keyturn token list'],
    load: async () => (await import('../command/token.ts')).list,
  },
  {
    name: 'token revoke',
    about: 'end a token',
    operands: [
      { name: '<agent>', about: 'whose it is' },
      { name: '<token>', about: 'its id, or its first 4 or more characters; `keyturn token list` shows it' },
    ],
    options: [reason, as],
    examples: [`keyturn token revoke bot ${ID} --reason "it was in a log"`],
    load: async () => (await import('../command/token.ts')).revoke,
  },
];
