import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const at = (name: string) => new URL(`../deploy/${name}`, import.meta.url);
const read = (name: string) => readFileSync(at(name), 'utf8');
const has_systemd = spawnSync('systemd-analyze', ['--version']).status === 0;

it('the unit and the image start the service, stop it in order, and run it as nobody special', () => {
  const unit = read('keyturn.service');
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) expect(line).toMatch(/^(\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=\S.*)$/);
  const settings = lines.filter((line) => line.includes('=')).map((line) => line.split('=')[0]);
  const twice = settings.filter((name, index) => settings.indexOf(name) !== index);
  expect(twice).toEqual([]);
  for (const line of ['User=keyturn', 'KillSignal=SIGTERM', 'NoNewPrivileges=yes', 'Restart=on-failure'])
    expect(lines).toContain(line);
  expect(unit).toMatch(/^ExecStart=\/\S+ keyturn serve .*--no-link$/m);

  const image = read('Dockerfile');
  for (const [, from] of image.matchAll(/^FROM (\S+)/gm)) expect(from).toMatch(/^node:20\.\d+\.\d+-/);
  const user = image.lastIndexOf('\nUSER ');
  expect(image.slice(user)).toMatch(/^\nUSER node\n/);
  expect(image.indexOf('ENTRYPOINT')).toBeGreaterThan(user);
  expect(image).not.toMatch(/^(ADD|ENV .*(TOKEN|SECRET|PASSWORD))/m);
  expect(image).toMatch(/^HEALTHCHECK .*\/livez/m);
  expect(image).toMatch(/^CMD \["serve",.*"--no-link"\]$/m);
});

it.skipIf(!has_systemd)('systemd finds nothing wrong with the unit', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', fileURLToPath(at('keyturn.service'))], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

const INSTRUCTIONS = /^(FROM|WORKDIR|COPY|RUN|USER|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD) \S/;

it('the image has no instruction that is unknown, and starts no shell for what it runs', () => {
  const text = read('Dockerfile').replaceAll('\\\n', '');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) expect(line).toMatch(INSTRUCTIONS);
  expect(lines[0]).toMatch(/^FROM \S+ AS build$/);
  for (const name of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) {
    const [line, ...more] = lines.filter((one) => one.startsWith(`${name} `));
    expect(more).toEqual([]);
    expect(JSON.parse(line!.slice(line!.indexOf('[')))).toEqual(expect.arrayContaining([expect.any(String)]));
  }
  // Packages of the system are pinned, and what was loaded to install them is not part of the image.
  const install = lines.find((line) => line.includes('apt-get install'))!;
  const packages = install.split('--no-install-recommends')[1]!.split('&&')[0]!.trim().split(/\s+/);
  for (const one of packages) expect(one).toMatch(/^[a-z-]+=[0-9.]+\*$/);
  expect(install).toMatch(/rm -rf \/var\/lib\/apt\/lists\/\*$/);
});
