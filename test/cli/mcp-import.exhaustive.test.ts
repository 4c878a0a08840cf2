import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importFrom } from '../../src/cli/command/mcp-import.ts';
import type { Result } from '../../src/cli/schema.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { enrolled } from '../mcp/stage.ts';
import { accepted, SERVERS } from '../mcp-call/servers.ts';
import { project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const LONG = { timeout: 90_000 };

async function staged(name: string, text: string) {
  const p = await project(TOOLS);
  const file = join(p.root, name);
  writeFileSync(file, text);
  const ask = async (options: object = {}) => {
    const { result, lines } = await importFrom({
      command: 'mcp import',
      operands: [file],
      options: { project: p.root, ...options },
    });
    return { ...(result as Result<'mcp import'>), lines };
  };
  const read = () => readFileSync(file, 'utf8');
  const config = () => readFileSync(join(p.root, 'keyturn.yaml'), 'utf8');
  const backups = () => readdirSync(p.root).filter((one) => one.includes('before-keyturn'));
  return { ...p, file, ask, read, config, backups };
}

describe('the servers of a client', () => {
  it('are written into keyturn.yaml and start nothing; another file is refused', LONG, async () => {
    const { root, keyturn, file, ask, config } = await staged('client.json', '{"other": 1}');
    await expectRefusal('MCP_CONFIG_MALFORMED', ask);
    for (const text of ['{', '{"servers": []}', '{"mcpServers": {}, "mcpServers": {}}']) {
      writeFileSync(file, text);
      await expectRefusal('MCP_CONFIG_MALFORMED', ask);
    }
    const text = JSON.stringify({
      mcpServers: {
        'My Files': { command: 'node', args: ['x.js'] },
        far: { url: 'https://x' },
        secret: { url: 'https://x', headers: { authorization: 'Bearer a' } },
        gate: { command: 'keyturn', args: ['mcp', '--project', root] },
        local: { command: 'node', args: [join(root, 'node_modules/.bin/keyturn'), 'mcp', '--as', 'scout'] },
      },
    });
    writeFileSync(file, text);
    const before = config();
    expect((await ask({ dryRun: true })).servers).toHaveLength(5);
    expect(config()).toBe(before);
    const { servers, moved } = await ask();
    expect(servers).toMatchObject([
      { server: 'my-files', problem: null },
      { server: 'far', problem: null },
      { server: 'secret', problem: expect.stringContaining('headers') },
      { server: 'gate', problem: expect.stringContaining('the gate itself') },
      { server: 'local', problem: expect.stringContaining('the gate itself') },
    ]);
    expect(moved).toBeNull();
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(config()).toContain('my-files');
    // Once a human has written a sandbox into keyturn.yaml, another import leaves it there.
    writeFileSync(
      join(root, 'keyturn.yaml'),
      config().replace('sandbox: none', 'sandbox: { network: false }'),
    );
    const own = config();
    expect((await ask()).servers).toEqual(servers);
    expect(config()).toBe(own);
    expect((await keyturn.mcp.servers()).servers).toMatchObject([
      { server: 'far', status: 'unaccepted' },
      { server: 'my-files', status: 'unaccepted' },
    ]);
  });
});

const NODE = process.execPath;
const odd = { command: NODE, args: [SERVERS.odd, 'plain'] };
const memory = { command: NODE, args: [SERVERS.memory], env: { MEMORY: 'x' } };

/** Of one server: what speaks against taking it over. */
async function problemOf(entry: object, name = 'client.json'): Promise<string | null> {
  const { ask, keyturn } = await staged(name, JSON.stringify({ mcpServers: { one: entry } }));
  const { servers } = await ask();
  await keyturn.close();
  return servers[0]!.problem;
}

describe('a server that its client starts in a way that keyturn.yaml cannot say', () => {
  it.each([
    ['SSE', { type: 'sse', url: 'https://x/sse' }, 'SSE'],
    ['another transport', { type: 'ws', url: 'wss://x' }, 'type is "ws"'],
    ['no command and no URL', { tcp: 'x' }, 'neither a command nor a URL'],
    ['a relative folder', { command: NODE, cwd: './here' }, 'is relative'],
    [
      'a variable in its arguments',
      { command: NODE, args: ['\u0024{workspaceFolder}/x'] },
      '\u0024{workspaceFolder}',
    ],
    ['a variable of the shell', { command: NODE, env: { TOKEN: '$MY_TOKEN' } }, '$MY_TOKEN'],
    ['a file of variables', { command: NODE, envFile: '.env' }, 'envFile'],
    ['variables of the client', { command: NODE, env_vars: ['TOKEN'] }, 'env_vars'],
    ['headers', { httpUrl: 'https://x/mcp', headers: { a: 'b' } }, 'headers'],
    ['switched off', { command: NODE, disabled: true }, 'switched off in its client (disabled)'],
    ['switched off at a URL', { url: 'https://x', disabled: 'yes' }, 'switched off'],
    ['switched off by Codex', { command: NODE, enabled: false }, 'switched off in its client (enabled)'],
    ['without some tools', { command: NODE, excludeTools: ['rm'] }, 'excludeTools'],
    ['with some tools', { command: NODE, includeTools: [] }, 'includeTools'],
    ['with some tools of Codex', { command: NODE, enabled_tools: ['ls'] }, 'enabled_tools'],
    ['without some tools of Codex', { url: 'https://x', disabled_tools: ['rm'] }, 'disabled_tools'],
    ['a program for headers', { url: 'https://x', headersHelper: './token' }, 'headersHelper'],
    ['OAuth', { url: 'https://x', oauth: { clientId: 'a' } }, 'oauth'],
    ['another login', { httpUrl: 'https://x', authProviderType: 'google_credentials' }, 'authProviderType'],
    ['a member that no client has', { command: NODE, strange: 1 }, 'strange'],
    ['a command beside a URL', { command: NODE, url: 'https://x' }, 'a URL and a command'],
    ['a URL that is none beside a command', { command: NODE, url: 7 }, 'It has url'],
    ['headers beside a command', { command: NODE, headers: { a: 'b' } }, 'It has headers'],
    ['two URLs', { url: 'https://x', httpUrl: 'https://y' }, 'differ'],
    ['another transport of a command', { command: NODE, type: 'ws' }, 'type is "ws"'],
    ['a type that is no text', { url: 'https://x', type: ['http'] }, 'type is ["http"]'],
    ['arguments that are no list', { command: NODE, args: { a: 1 } }, 'args are no list'],
    ['an argument that is an object', { command: NODE, args: ['x', { a: 1 }] }, 'Argument 2 is no text'],
    ['an argument that is nothing', { command: NODE, args: [null] }, 'Argument 1 is no text: null'],
    ['a variable that is a list', { command: NODE, env: { A: [] } }, 'The variable A is no text'],
    ['variables that are a list', { command: NODE, env: ['A=b'] }, 'env is no list of variables'],
    ['a command in the home', { command: '~/bin/x' }, '~/bin/x begins with ~'],
    ['a folder in the home', { command: NODE, cwd: '~/x' }, '~/x begins with ~'],
  ])('is refused in words: %s', LONG, async (_what, entry, words) => {
    const problem = await problemOf(entry);
    expect(problem).toContain('MCP_CONFIG_MALFORMED');
    expect(problem).toContain(words);
  });

  it('leaves the others as they are, and a list beside the servers switches off, too', LONG, async () => {
    const { ask, keyturn, file, read, root } = await staged(
      'settings.json',
      JSON.stringify({
        mcp: { excluded: ['off'], allowed: ['off', 'on', 'quiet'] },
        mcpServers: {
          off: { command: NODE },
          unlisted: { command: NODE },
          on: { command: NODE, args: [1, true, 'x'], env: { N: 2 }, timeout: 5, trust: true },
          quiet: { command: NODE, enabled: true, disabled: false, excludeTools: [], headers: {}, env: null },
        },
      }),
    );
    const before = read();
    const { servers } = await ask();
    expect(servers.map(({ problem }) => problem)).toEqual([
      expect.stringContaining('switched off in its client (mcp.excluded)'),
      expect.stringContaining('switched off in its client (mcp.allowed)'),
      null,
      null,
    ]);
    const now = await Keyturn.open({ at: root });
    expect(now.config.servers).toEqual({ on: expect.anything(), quiet: expect.anything() });
    expect(now.config.servers.on).toMatchObject({ args: ['1', 'true', 'x'], env: { N: '2' } });
    await now.close();
    expect(read()).toBe(before);
    // As Claude Code keeps it: off in one project, for a server of that project or of all.
    const projects = {
      '/a': { mcpServers: { mine: { command: NODE } }, disabledMcpServers: ['mine', 'all'] },
      '/b': { mcpServers: { mine: { command: NODE } } },
    };
    writeFileSync(file, JSON.stringify({ mcpServers: { all: { command: NODE } }, projects }));
    const claude = await ask({ dryRun: true });
    expect(claude.servers.map(({ from, project, problem }) => [from, project, problem])).toEqual([
      ['all', null, expect.stringContaining('(disabledMcpServers of /a)')],
      ['mine', '/a', expect.stringContaining('(disabledMcpServers of /a)')],
      ['mine', '/b', null],
    ]);
    await keyturn.close();
  });

  it('is taken with the URL that Gemini CLI calls httpUrl, and with its folder', LONG, async () => {
    const gemini = {
      far: { httpUrl: 'https://far.example.org/mcp' },
      near: { type: 'http', url: 'https://near.example.org/mcp' },
      here: { command: NODE, args: ['server.js'], cwd: '/srv', env: { MODE: 'x' } },
    };
    const { ask, keyturn } = await staged('settings.json', JSON.stringify({ mcpServers: gemini }));
    const { servers, lines } = await ask();
    expect(servers.map(({ problem }) => problem)).toEqual([null, null, null]);
    expect(lines).toContain('  It starts in /srv');
    expect(lines.join('\n')).toContain('In the clear in keyturn.yaml: MODE.');
    const now = await Keyturn.open({ at: keyturn.layout.root });
    expect(now.config.servers).toMatchObject({
      far: { url: 'https://far.example.org/mcp' },
      near: { url: 'https://near.example.org/mcp' },
      here: { executable: NODE, args: ['server.js'], cwd: '/srv', env: { MODE: 'x' } },
    });
    await now.close();
  });
});

describe('what is moved out of a client', () => {
  it('was started there as keyturn.yaml says: arguments, folder and each variable', LONG, async () => {
    const text = (change: object = {}) =>
      JSON.stringify({
        mcpServers: { odd: { ...odd, cwd: '/srv', env: { MODE: 'x', TOKEN: 'y' }, ...change } },
      });
    const { keyturn, ada, root, file, ask, ...p } = await staged('.mcp.json', text());
    await enrolled({ ...p, root, keyturn, ada });
    keyturn.host.configureServer('odd', {
      ...{
        executable: NODE,
        args: odd.args,
        cwd: '/srv',
        env: { MODE: 'x' },
        sandbox: 'none',
        run_as: 'root',
      },
      // A human made a secret of it.
      secrets: { TOKEN: 'ODD_TOKEN' },
    });
    writeFileSync(join(root, 'token.txt'), 'a-secret-of-the-host', { mode: 0o600 });
    const path = join(root, '.keyturn', 'executor.yaml');
    writeFileSync(path, `version: 1\nsecrets: { ODD_TOKEN: { file: ${join(root, 'token.txt')} } }\n`, {
      mode: 0o600,
    });
    await accepted(keyturn, 'odd', ada);
    for (const [change, part] of [
      [{ args: [SERVERS.odd] }, 'args'],
      [{ cwd: '/' }, 'cwd'],
      [{ cwd: undefined }, 'cwd'],
      [{ env: { MODE: 'z' } }, 'env MODE'],
      [{ env: { MORE: 'x' } }, 'env MORE'],
      [{ command: '/bin/sh' }, 'executable'],
    ] as const) {
      writeFileSync(file, text(change));
      const { servers, moved } = await ask({ move: 'scout' });
      expect(moved).toBeNull();
      expect(servers[0]!.problem).toContain('MCP_SERVER_CHANGED');
      expect(servers[0]!.problem).toContain(`(${part})`);
    }
    writeFileSync(file, text());
    expect((await ask({ move: 'scout' })).moved).toMatchObject({ removed: [{ from: 'odd', project: null }] });
  });
});

/** As Claude Code keeps it: `claude mcp add` writes into the project of the folder unless told otherwise. */
function claudeFile(site: string, shop: string, own: object = {}): string {
  const kept = { allowedTools: [], history: [], hasTrustDialogAccepted: true, enabledMcpjsonServers: [] };
  const stdio = { type: 'stdio', command: NODE, args: [SERVERS.odd, 'plain'], env: {} };
  return `${JSON.stringify(
    {
      ...{ numStartups: 7, ...own },
      projects: {
        [site]: { ...kept, mcpServers: { odd: stdio, far: { type: 'http', url: 'https://x' } } },
        [shop]: { ...kept, mcpServers: { odd: stdio, far: { type: 'http', url: 'https://x' } } },
        '/srv/none': kept,
      },
    },
    null,
    2,
  )}\n`;
}

describe('the projects in the file of Claude Code', () => {
  it(
    'have their servers taken over with their folder; one name for two servers is refused',
    LONG,
    async () => {
      const { root, file, ask, config, keyturn } = await staged('.claude.json', '{}');
      const [site, shop] = ['site', 'shop'].map((name) => join(root, name)) as [string, string];
      writeFileSync(file, claudeFile(site, shop));
      const { servers, lines } = await ask({ dryRun: true });
      expect(servers.map(({ from, project, problem }) => [from, project, problem === null])).toEqual([
        ['odd', site, false],
        ['far', site, true],
        ['odd', shop, false],
        ['far', shop, true],
      ]);
      const collision = lines.find((line) => line.startsWith(`[ERROR] odd (project ${site})`));
      expect(collision).toContain(`odd (project ${shop}) would be odd in keyturn.yaml, too`);
      expect(collision).toContain('Rename');
      await ask();
      expect(config()).not.toContain(SERVERS.odd);
      // As the refusal says.
      writeFileSync(file, claudeFile(site, shop).replace('"odd":', '"odd-site":'));
      expect((await ask()).servers.map(({ server, problem }) => [server, problem])).toEqual([
        ['odd-site', null],
        ['far', null],
        ['odd', null],
        ['far', null],
      ]);
      const now = await Keyturn.open({ at: root });
      expect(now.config.servers).toMatchObject({ 'odd-site': { cwd: site }, odd: { cwd: shop } });
      await now.close();
      await keyturn.close();
    },
  );

  it.each([
    ['alone', {}],
    ['beside those of every project', { mcpServers: { memory: { command: NODE, args: [SERVERS.memory] } } }],
  ])('lose what a human accepted, and each of them gets the gate: %s', LONG, async (_what, own) => {
    const { root, keyturn, ada, file, ask, read, config, ...p } = await staged('.claude.json', '{}');
    const [site, shop] = ['site', 'shop'].map((name) => join(root, name)) as [string, string];
    mkdirSync(site);
    const text = claudeFile(site, shop, own).replace('"odd":', '"odd-site":');
    writeFileSync(file, text);
    await enrolled({ ...p, root, keyturn, ada });
    await ask();
    writeFileSync(
      join(root, 'keyturn.yaml'),
      config().replaceAll('sandbox: none', 'sandbox: none\n    run_as: root'),
    );
    await accepted(keyturn, 'odd-site', ada);
    const shown = await ask({ move: 'scout', dryRun: true });
    expect(shown.lines).toContain(`[OK] odd-site (project ${site}) would be taken out of ${file}`);
    expect(read()).toBe(text);
    const { moved, lines } = await ask({ move: 'scout' });
    expect(moved).toMatchObject({
      removed: [{ from: 'odd-site', project: site }],
      added: { projects: [site] },
    });
    expect(lines.join('\n')).toContain(`The project ${site} has the gate: `);
    const [before, now] = [JSON.parse(text), JSON.parse(read())];
    expect(Object.keys(now.projects[site].mcpServers)).toEqual(['far', 'keyturn']);
    before.projects[site].mcpServers = now.projects[site].mcpServers;
    expect(now).toEqual(before);
    // Again: it is the gate by now, and nothing else is moved.
    const again = await ask({ move: 'scout' });
    expect(again.moved).toBeNull();
    expect(again.servers.find(({ from }) => from === 'keyturn')!.problem).toContain('the gate itself');
  });
});

/** As each client writes it. */
const CLIENTS: Readonly<Record<string, { readonly name: string; readonly text: string }>> = {
  Claude: {
    name: '.mcp.json',
    text: `${JSON.stringify({ numStartups: 7, mcpServers: { Odd: odd, memory }, projects: { '/srv/x': {} } }, null, 2)}\n`,
  },
  Cursor: { name: 'mcp.json', text: JSON.stringify({ mcpServers: { Odd: odd, memory } }, null, '\t') },
  'VS Code': {
    name: 'mcp.json',
    text: JSON.stringify({ inputs: [], servers: { Odd: { type: 'stdio', ...odd }, memory } }, null, 4),
  },
  Codex: {
    name: 'config.toml',
    text: `# mine
model = "o"   # [mcp_servers.not]

[mcp_servers.Odd]
command = ${JSON.stringify(NODE)}
args = [
  '${SERVERS.odd}', # the script
  "plain",
]
startup_timeout_sec = 20

# of the other one
[mcp_servers."memory"]
command = '${NODE}'
args = ["${SERVERS.memory}"]
[mcp_servers.memory.env]
MEMORY = "x"

[tools]
web_search = true
`,
  },
};

describe.each(Object.entries(CLIENTS))('the file of %s', (client, { name, text }) => {
  it('loses what a human accepted, gets the gate, and is kept beside it as it was', LONG, async () => {
    const { root, keyturn, ada, file, ask, read, config, backups, ...p } = await staged(name, text);
    chmodSync(file, 0o640);
    await expectRefusal('PRINCIPAL_UNKNOWN', () => ask({ move: 'scout' }));
    await enrolled({ ...p, root, keyturn, ada });
    const first = await ask();
    expect(first.servers.map(({ server, problem }) => [server, problem])).toEqual([
      ['odd', null],
      ['memory', null],
    ]);
    // No human has accepted one: nothing is taken from the client.
    expect((await ask({ move: 'scout' })).moved).toBeNull();
    expect([read(), backups()]).toEqual([text, []]);

    writeFileSync(
      join(root, 'keyturn.yaml'),
      config().replaceAll('sandbox: none', 'sandbox: none\n    run_as: root'),
    );
    await accepted(keyturn, 'odd', ada);
    const shown = await ask({ move: 'scout', dryRun: true });
    expect(shown.moved).toMatchObject({ backup: null, removed: [{ from: 'Odd', project: null }] });
    expect(shown.lines.join('\n')).toContain('would be taken out of');
    expect([read(), backups()]).toEqual([text, []]);

    const { moved, servers } = await ask({ move: 'scout' });
    expect(moved).toMatchObject({
      removed: [{ from: 'Odd', project: null }],
      added: { args: expect.arrayContaining(['mcp', '--as', 'scout']) },
    });
    expect(servers[1]).toMatchObject({ problem: expect.stringContaining('MCP_SERVER_UNACCEPTED') });
    expect(readFileSync(moved!.backup!, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const now = read();
    expect(now).not.toContain(SERVERS.odd);
    expect(now).toContain(SERVERS.memory);
    expect(now).toContain('keyturn');
    // Again: what was moved is moved, the gate is there once, and the first backup stays.
    await accepted(keyturn, 'memory', ada);
    const second = await ask({ move: 'scout' });
    expect(second.moved).toMatchObject({ removed: [{ from: 'memory' }], added: null });
    expect(backups()).toHaveLength(2);
    expect(readFileSync(moved!.backup!, 'utf8')).toBe(text);
    expect(read()).not.toContain(SERVERS.memory);
    expect((await ask({ move: 'scout' })).moved).toBeNull();
    if (client === 'Codex') {
      expect(read()).toContain('# mine\nmodel = "o"   # [mcp_servers.not]');
      expect(read()).toContain('[tools]\nweb_search = true');
      expect(read()).not.toContain('MEMORY');
      return;
    }
    const { mcpServers, servers: others, ...rest } = JSON.parse(read());
    const { mcpServers: _, servers: __, ...before } = JSON.parse(text);
    expect(Object.keys(mcpServers ?? others)).toEqual(['keyturn']);
    expect(rest).toEqual(before);
    expect(read().endsWith('\n')).toBe(text.endsWith('\n'));
  });
});

describe('a server that its client limits', () => {
  it('stays in the client by name when it is moved, and the others go', LONG, async () => {
    const text = `[mcp_servers.odd]
command = ${JSON.stringify(NODE)}
args = ["${SERVERS.odd}", "plain"]

[mcp_servers.memory]
command = ${JSON.stringify(NODE)}
args = ["${SERVERS.memory}"]
`;
    const { keyturn, ada, root, file, ask, read, config, ...p } = await staged('config.toml', text);
    await enrolled({ ...p, root, keyturn, ada });
    await ask();
    writeFileSync(
      join(root, 'keyturn.yaml'),
      config().replaceAll('sandbox: none', 'sandbox: none\n    run_as: root'),
    );
    await accepted(keyturn, 'odd', ada);
    await accepted(keyturn, 'memory', ada);
    // Both are accepted, and one of them is limited in the client by then.
    writeFileSync(file, text.replace('"plain"]', '"plain"]\nenabled = false\ndisabled_tools = ["act"]'));
    const off = await ask({ move: 'scout' });
    expect(off.moved).toMatchObject({ removed: [{ from: 'memory', project: null }] });
    expect(off.lines.join('\n')).toContain('[ERROR] odd: MCP_CONFIG_MALFORMED: It is switched off');
    expect(read()).toContain('enabled = false\ndisabled_tools = ["act"]');
  });
});

describe('a file of a client that cannot be moved', () => {
  it('stays where another server has the name, or keyturn.yaml has another one under it', LONG, async () => {
    const text = JSON.stringify({ mcpServers: { odd, keyturn: { command: NODE, args: ['other.js'] } } });
    const { keyturn, ada, root, file, ask, read, ...p } = await staged('.mcp.json', text);
    await enrolled({ ...p, root, keyturn, ada });
    keyturn.host.configureServer('odd', {
      executable: NODE,
      args: [SERVERS.odd],
      sandbox: 'none',
      run_as: 'root',
    });
    await accepted(keyturn, 'odd', ada);
    const { servers, moved } = await ask({ move: 'scout' });
    expect(moved).toBeNull();
    expect(servers[0]!.problem).toContain('MCP_SERVER_CHANGED');
    keyturn.host.configureServer('odd', {
      executable: NODE,
      args: odd.args,
      sandbox: 'none',
      run_as: 'root',
    });
    await accepted(keyturn, 'odd', ada);
    await expectRefusal('MCP_CONFIG_MALFORMED', () => ask({ move: 'scout' }));
    expect(read()).toBe(text);
    // A link stays one: the file that it names is written.
    const link = join(root, 'link.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { odd } }));
    symlinkSync(file, link);
    await importFrom({ command: 'mcp import', operands: [link], options: { project: root, move: 'scout' } });
    expect(JSON.parse(read()).mcpServers).not.toHaveProperty('odd');
    expect(readFileSync(link, 'utf8')).toBe(read());
  });

  it.each([
    ['a text of several lines', '[mcp_servers.a]\ncommand = """x"""\n'],
    ['servers that are no tables', 'mcp_servers = { a = { command = "x" } }\n'],
    ['dotted keys', 'mcp_servers.a.command = "x"\n'],
    ['a list of tables', '[[mcp_servers.a]]\ncommand = "x"\n'],
    ['a deeper table', '[mcp_servers.a.b.c]\nx = "y"\n'],
    ['a value that is none', '[mcp_servers.a]\ncommand = "x\n'],
    ['a line that is none', '[mcp_servers.a]\nwhat is this\n'],
    ['a key that is there twice', '[mcp_servers.a]\ncommand = "x"\ncommand = "y"\n'],
    ['a key that is there twice in a line', '[mcp_servers.a]\ncommand = "x"\nenv = { A = "1", A = "2" }\n'],
    ['a table that is there twice', '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a]\nargs = []\n'],
    ['a key that is a table as well', '[mcp_servers.a]\nenv = { A = "1" }\n[mcp_servers.a.env]\nB = "2"\n'],
    ['a name behind an escape', '["mcp\\u005fservers".hidden]\ncommand = "x"\n'],
  ])('is refused as TOML with %s', LONG, async (_what, text) => {
    const { ask, read } = await staged('config.toml', text);
    await expectRefusal('MCP_CONFIG_MALFORMED', ask);
    expect(read()).toBe(text);
  });
});
