import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { TOOLS } from '../cli/project.ts';
import { writeConfig } from '../journey/postgres-host.ts';
import { type Server, startServer } from '../support/postgres-server.ts';
import { found } from '../support/project.ts';
import { keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';

export const SECRET = 'a-long-random-password';

/** The statements of docs/postgres.md, with a password in the place of the dots. */
function documentedRoles(): string[] {
  const page = readFileSync(new URL('../../docs/postgres.md', import.meta.url), 'utf8');
  const block = /## Two roles[\s\S]*?```sql\n([\s\S]*?)```/.exec(page)![1]!;
  return block.replaceAll('…', SECRET).trim().split('\n');
}

async function sqlAs(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows ?? [];
  } finally {
    await client.end();
  }
}

/** A server for the tests of one file, with the roles of docs/postgres.md and a database without tables. */
export function documentedServer() {
  let server: Server;
  const url = (user: string) => server.url({ user, password: SECRET, database: 'keyturn' });
  beforeAll(async () => {
    server = await startServer();
    for (const statement of documentedRoles()) await sqlAs(server.url(), statement);
  });
  afterAll(() => server?.remove());

  /** A project whose ledger the application made. */
  async function project(tenant: string) {
    const root = scratch();
    writeConfig(root, tenant, url('keyturn_app'));
    const { keyturn: opened, ada: signer } = await found(root, { registry: TOOLS, name: 'alice' });
    onTestFinished(() => opened.close());
    await opened.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer });
    const propose = () =>
      opened.intents.propose({
        issuer: 'bot',
        declared_goal: 'For a test.',
        effect: { kind: 'tool', tool: 'greet', arguments: { name: 'Ada' } },
      });
    const run = (...words: string[]) => keyturn(words, { cwd: root });
    /** As SQL. */
    const id = `(SELECT id FROM keyturn.tenant WHERE name = '${tenant}')`;
    return { root, keyturn: opened, propose, run, id };
  }

  return {
    url,
    sqlAs,
    app: (text: string) => sqlAs(url('keyturn_app'), text),
    superuser: (text: string) => sqlAs(server.url({ database: 'keyturn' }), text),
    migrate: (...words: string[]) =>
      keyturn(['store', 'migrate', url('keyturn_owner'), ...words], { cwd: tmpdir() }),
    project,
  };
}
