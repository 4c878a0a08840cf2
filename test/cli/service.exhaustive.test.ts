import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { askingAt } from '../../src/cli/service.ts';
import { cliLimits } from '../../src/limits.ts';
import { expectRefusal } from '../support/refusal.ts';

it('an answer that is longer than any is refused, also where little of it was sent', async () => {
  const long = gzipSync(Buffer.alloc(cliLimits.answer_bytes + 1, ' '), { level: 1 });
  const server = createServer(({ url }, response) => {
    const type = url === '/refused' ? 'application/problem+json' : 'application/json';
    const status = url === '/refused' ? 400 : 200;
    response.writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' });
    response.end(url === '/short' ? gzipSync('{"short":true}') : long);
  });
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  onTestFinished(() => void server.close());
  const { ask } = askingAt(`http://localhost:${(server.address() as AddressInfo).port}`, {});
  for (const path of ['/long', '/refused']) {
    const { message } = await expectRefusal('SERVICE_FOREIGN', () => ask(path, {}, {}));
    expect(message).toContain('more than any answer has');
  }
  expect(await ask('/short', {}, {})).toEqual({ short: true });
});
