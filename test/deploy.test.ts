import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8');

it('the unit and the image start the service, stop it in order, and run it as nobody special', () => {
  const unit = read('keyturn.service');
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) expect(line).toMatch(/^(\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=\S.*)$/);
  const settings = lines.filter((line) => line.includes('=')).map((line) => line.split('=')[0]);
  const twice = settings.filter((name, index) => settings.indexOf(name) !== index);
  expect(twice).toEqual([]);
  for (const line of ['User=keyturn', 'KillSignal=SIGTERM', 'NoNewPrivileges=yes', 'Restart=on-failure'])
    expect(lines).toContain(line);
  expect(unit).toMatch(/^ExecStart=\/\S+ keyturn serve /m);

  const image = read('Dockerfile');
  for (const [, from] of image.matchAll(/^FROM (\S+)/gm)) expect(from).toMatch(/^node:20\.\d+\.\d+-/);
  const user = image.lastIndexOf('\nUSER ');
  expect(image.slice(user)).toMatch(/^\nUSER node\n/);
  expect(image.indexOf('ENTRYPOINT')).toBeGreaterThan(user);
  expect(image).not.toMatch(/^(ADD|ENV .*(TOKEN|SECRET|PASSWORD))/m);
  expect(image).toMatch(/^HEALTHCHECK .*\/livez/m);
  expect(image).toMatch(/^CMD \["serve",/m);
});
