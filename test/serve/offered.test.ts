import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Client, createClient, type ServiceRefusal } from '../../src/client/client.ts';
import { VERBS, type VerbName } from '../../src/face/verbs.ts';
import { HOST_ONLY, type ServedVerb } from '../../src/serve/host-only.ts';
import { routesOf } from '../../src/serve/route.ts';
import { service } from './service.ts';

type NamedIn<T> = { [N in keyof T & string]: `${N}.${keyof T[N] & string}` }[keyof T & string];

const ALL = Object.entries(VERBS).flatMap(([namespace, verbs]) =>
  Object.keys(verbs).map((name) => `${namespace}.${name}`),
);
const KEPT = Object.keys(HOST_ONLY);
const OFFERED = ALL.filter((name) => !KEPT.includes(name));

/** What the service gives by itself, asks for apart, or does without. */
const GIVEN = ['signer', 'holder', 'signal', 'model', 'shared', 'to'];

describe('what a service offers', () => {
  it('has exactly the names that the types of the client have', () => {
    expectTypeOf<NamedIn<Client>>().toEqualTypeOf<ServedVerb>();
    expectTypeOf<VerbName>().toEqualTypeOf<ServedVerb | keyof typeof HOST_ONLY>();
    expect(routesOf().map(({ namespace, name }) => `${namespace}.${name}`)).toEqual(OFFERED);
    expect(KEPT.filter((name) => !ALL.includes(name))).toEqual([]);
  });

  it('is no verb that is kept for the host: a client that asks for one all the same is refused', async () => {
    const { address, token } = await service();
    const client = createClient({ address, token }) as unknown as Record<
      string,
      Record<string, (request: object) => Promise<unknown>>
    >;
    for (const name of KEPT) {
      const [namespace, verb] = name.split('.') as [string, string];
      const code = await client[namespace]![verb]!({}).catch(({ code }: ServiceRefusal) => code);
      expect(code, name).toBe('ROUTE_UNKNOWN');
    }
  });

  it('needs nothing of a process elsewhere, and has a caller each', () => {
    for (const { path, verb, is_act, is_look, is_proven } of routesOf()) {
      expect(
        verb.here.filter((member) => !GIVEN.includes(member)),
        path,
      ).toEqual([]);
      // A human writes only what is signed: what is not, and is not open to agents either, would be refused to every caller.
      const is_asked = verb.kind !== 'write' || verb.open_to !== 'people' || is_act || is_look || is_proven;
      expect(is_asked, path).toBe(true);
    }
  });

  it('and what it does not, with the reason of each, are in docs/http.md', () => {
    const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
    const rows = Object.entries(HOST_ONLY).map(([name, why]) => `| \`${name}\` | ${why} |`);
    expect(page).toContain(['| verb | why no service offers it |', '|---|---|', ...rows, ''].join('\n'));
  });
});
