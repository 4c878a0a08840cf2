import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { authority } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import type { Postgres } from '../store/postgres-place.ts';
import type { Walked } from './contract.ts';
import { asExecutor, atOnce, formOf, ISSUE, type Note } from './contract-steps.ts';
import { call, type Service, serving, session, type Told, withToken } from './service.ts';

/** By any method, with any headers. Each on a connection of its own: one that ends before its answer was cut by the service. */
export function sent(
  { address }: Pick<Service, 'address'>,
  method: string,
  path: string,
  { token, headers = {}, body }: { token?: string; headers?: Record<string, string>; body?: string },
): Promise<Told> {
  const { hostname, port } = new URL(address);
  const all = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  };
  return new Promise((done, failed) => {
    const asked = { hostname, port, path, method: method.toUpperCase(), headers: all, agent: false };
    const asking = request(asked, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part) => void parts.push(part));
      answer.on('error', failed);
      answer.on('end', () => {
        const told = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        const text = Buffer.concat(parts).toString('utf8');
        const is_json = /json\b/.test(answer.headers['content-type'] ?? '');
        const read = is_json && text !== '' ? JSON.parse(text) : null;
        done({ status: answer.statusCode!, headers: new Headers(told), text, body: read });
      });
    });
    asking.on('error', failed);
    asking.end(body);
  });
}

/** Under another name of the service, which fetch does not let a program say. */
export function viaHost(
  { address }: Pick<Service, 'address'>,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Told> {
  const { port } = new URL(address);
  return new Promise((done, failed) => {
    const asking = request(
      { host: '127.0.0.1', port, path, method: method.toUpperCase(), headers },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part) => {
          text += part;
        });
        answer.on('end', () => {
          const told = new Headers({ 'content-type': answer.headers['content-type'] ?? '' });
          done({
            status: answer.statusCode!,
            headers: told,
            text,
            body: text === '' ? null : JSON.parse(text),
          });
        });
      },
    );
    asking.on('error', failed);
    asking.end();
  });
}

/** A service that is asked for more than its caller may ask. */
export async function crowded(): Promise<(one: Walked) => Promise<Told>> {
  const p = await authority();
  writeFileSync(join(p.root, 'keyturn.yaml'), 'version: 1\nservice: { requests_minute: 1 }\n');
  const { token } = await withToken(p, 'bot');
  const s = await serving(p);
  const issue = asExecutor(p, s);
  await call(s, '/v1/intents/list', {}, { token });
  await issue({});
  return ({ path, method, takes_body }) =>
    path === ISSUE ? issue({}) : sent(s, method, path, { token, ...(takes_body && { body: '{}' }) });
}

/** A service whose database is gone. */
export async function withoutStore(database: Postgres, note: Note): Promise<(one: Walked) => Promise<Told>> {
  const p = await shared(database, 'contract');
  const { token } = await withToken(p, 'bot');
  const s = { ...p, ...(await serving(p)) } as unknown as Service;
  await atOnce(s, await session(s), note);
  const issue = asExecutor(p, s);
  await database.server.kill();
  return ({ path, method, takes_body, is_open }) =>
    path === ISSUE
      ? issue({})
      : sent(s, method, path, {
          token,
          ...(takes_body && { body: JSON.stringify(is_open || path === '/v1/session' ? formOf(path) : {}) }),
        });
}
