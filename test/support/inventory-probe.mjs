#!/usr/bin/env node
// Runs inside a sandbox and tries everything that it can find. Says what it could do as one line of JSON in a pipe.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

const given = JSON.parse(process.argv.find((word) => word.startsWith('{')));
const { pipe, secrets, outside_pid, port, abstract } = given;
const { O_WRONLY, O_APPEND, O_NONBLOCK, O_RDONLY } = fs.constants;
const DEPTH = 5;
const FILES = 100;

const could = {
  write: [],
  create: [],
  read: [],
  connect: [],
  signal: [],
  run: [],
  fds: [],
  calls: {},
  who: {},
};

function attempt(act) {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

const opens = (path, flags) => attempt(() => fs.closeSync(fs.openSync(path, flags | O_NONBLOCK)));

function visit(folder, depth) {
  let entries = [];
  attempt(() => (entries = fs.readdirSync(folder, { withFileTypes: true })));
  const made = join(folder, 'keyturn-probe');
  if (attempt(() => fs.mkdirSync(made))) {
    could.create.push(folder);
    attempt(() => fs.rmdirSync(made));
  }
  let files = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (depth < DEPTH && !isOtherProcess(path)) visit(path, depth + 1);
    } else if (entry.isSocket()) could.sockets = [...(could.sockets ?? []), path];
    else if (!entry.isSymbolicLink() && files++ < FILES && opens(path, O_WRONLY | O_APPEND))
      could.write.push(path);
  }
}

// Itself is visited as /proc/PID; all others alike by the first process.
const isOtherProcess = (path) =>
  /^\/proc\/\d+$/.test(path) && path !== '/proc/1' && path !== `/proc/${process.pid}`;

function connects(options) {
  return new Promise((resolve) => {
    const socket = net.connect(options);
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(2000, () => end(false));
  });
}

visit('/', 0);
for (const path of secrets) if (opens(path, O_RDONLY)) could.read.push(path);
for (const fd of fs.readdirSync('/proc/self/fd')) {
  attempt(() => could.fds.push(fs.readlinkSync(`/proc/self/fd/${fd}`)));
}
for (const pid of [outside_pid, ...fs.readdirSync('/proc').map(Number).filter(Boolean)]) {
  if (attempt(() => process.kill(pid, 0))) could.signal.push(pid);
}
for (const path of could.sockets ?? []) if (await connects({ path })) could.connect.push(path);
if (await connects({ port, host: '127.0.0.1' })) could.connect.push('tcp');
if (await connects({ path: `\0${abstract}` })) could.connect.push('abstract');

const COMMANDS = {
  mount: ['mount', '-t', 'tmpfs', 'none', '/tmp'],
  remount: ['mount', '-o', 'remount,bind,rw', '/proc'],
  umount: ['umount', '/proc'],
  chroot: ['chroot', '/', 'true'],
  unshare: ['unshare', '--user', 'true'],
  unshare_all: ['unshare', '--user', '--map-root-user', '--mount', 'true'],
  nsenter: ['nsenter', '--target', '1', '--mount', 'true'],
  setarch: ['setarch', '--addr-no-randomize', 'true'],
  dmesg: ['dmesg'],
  hostname: ['hostname', 'other'],
  date: ['date', '-s', '2001-01-01'],
};
for (const [name, [program, ...args]] of Object.entries(COMMANDS)) {
  const { status } = spawnSync(program, args, {
    stdio: 'ignore',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  if (status === 0) could.run.push(name);
}
// Numbers, with arguments that nothing takes: the filter answers before the kernel looks at them.
if (fs.existsSync('/usr/bin/perl')) {
  for (const [name, number] of Object.entries(given.numbers)) {
    const script = `syscall(${number}, -1, -1, -1, -1); print $!+0`;
    could.calls[name] = Number(execFileSync('/usr/bin/perl', ['-e', script], { encoding: 'utf8' }));
  }
}
const status = fs.readFileSync('/proc/self/status', 'utf8');
for (const key of ['CapEff', 'Seccomp', 'NoNewPrivs', 'Uid'])
  could.who[key] = new RegExp(`^${key}:\\s*(\\S+)`, 'm').exec(status)?.[1];

const line = Buffer.from(`${JSON.stringify(could)}\n`);
const out = fs.openSync(pipe, O_WRONLY);
for (let at = 0; at < line.length; ) at += fs.writeSync(out, line, at);
