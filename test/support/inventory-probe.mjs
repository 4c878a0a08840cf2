#!/usr/bin/env node
// Runs inside a sandbox and tries everything that it can find. Says what it could do as one line of JSON in a pipe.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

Error.stackTraceLimit = 0; // most attempts fail, and a trace costs more than the call
const given = JSON.parse(process.argv.find((word) => word.startsWith('{')));
const { pipe, named, port, abstract, whole } = given;
// Reversed: the words must not stand in the arguments of this process, where they would be found.
const words = given.needles.map((word) => [...word].reverse().join(''));
const needles = words.map((word) => Buffer.from(word));
const { O_WRONLY, O_APPEND, O_NONBLOCK, O_RDONLY } = fs.constants;
/** Of a file of the kernel. Arguments, environments and lists of keys are shorter. */
const SEARCHED_BYTES = 65_536;

const could = {
  write: [],
  create: [],
  read: [],
  list: [],
  found: [],
  sockets: [],
  connect: [],
  run: [],
  fds: [],
  seen: [],
  calls: [],
  who: {},
};

function attempt(act) {
  try {
    return act() ?? true;
  } catch {
    return false;
  }
}

const writes = (path) => attempt(() => fs.closeSync(fs.openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK)));

const buffer = Buffer.alloc(SEARCHED_BYTES);

/** The kernel lets some files be opened and refuses to read them, so its own are read, and searched. */
function reads(path, kernel) {
  const fd = attempt(() => fs.openSync(path, O_RDONLY | O_NONBLOCK));
  if (fd === false) return false;
  try {
    return !kernel || searched(path, fd);
  } finally {
    fs.closeSync(fd);
  }
}

function searched(path, fd) {
  let length = 0;
  try {
    for (let more = -1; more !== 0 && length < buffer.length; length += more) {
      more = fs.readSync(fd, buffer, length, buffer.length - length, null);
    }
  } catch (error) {
    // To wait is to be allowed to read.
    if (length === 0 && error.code !== 'EAGAIN') return false;
  }
  const text = buffer.subarray(0, length);
  if (needles.some((needle) => text.includes(needle))) could.found.push(path);
  return true;
}

const KERNEL = /^\/(proc|sys)\//;
const DEVICE = /^\/dev\//;
/** A device that restarts the machine when it was opened and is closed. */
const WATCHDOG = /watchdog/;
/** Links of the kernel's own that lead to an open file or folder, whatever the name in them says. */
const HANDLE = /^\/proc\/\d+\/(task\/\d+\/)?(fd\/\d+|map_files\/.*|exe)$/;

/**
 * Of a folder on a disk outside of the project: what is mounted there is read-only as one, and the modes are those of the disk, so
 * that some files show what all do. Without `whole` only so many of each folder are tried. Every folder is.
 */
const SAMPLE = 2;
const isSampled = (folder) =>
  !whole && !/^\/(proc|sys|dev)(\/|$)/.test(folder) && !folder.startsWith(given.folder);

function visit(folder) {
  const entries = attempt(() => fs.readdirSync(folder, { withFileTypes: true }));
  if (entries) could.list.push(folder);
  const made = join(folder, 'keyturn-probe');
  if (attempt(() => fs.mkdirSync(made))) {
    could.create.push(folder);
    attempt(() => fs.rmdirSync(made));
  }
  let files = isSampled(folder) ? SAMPLE : Infinity;
  for (const entry of entries || []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) visit(path);
    else if (entry.isSocket()) could.sockets.push(path);
    else if (entry.isSymbolicLink()) handle(path);
    else if (entry.isFIFO()) fifo(path);
    else if (files-- > 0) file(path);
  }
}

function file(path) {
  if (DEVICE.test(path) && WATCHDOG.test(path)) {
    if (attempt(() => fs.accessSync(path, fs.constants.W_OK))) could.write.push(path);
    return;
  }
  if (writes(path)) could.write.push(path);
  if (reads(path, KERNEL.test(path))) could.read.push(path);
}

/** To open the pipe of another program would end or begin its conversation, so the kernel is only asked. */
function fifo(path) {
  if (attempt(() => fs.accessSync(path, fs.constants.W_OK))) could.write.push(path);
  if (attempt(() => fs.accessSync(path, fs.constants.R_OK))) could.read.push(path);
}

function handle(path) {
  if (!HANDLE.test(path)) return;
  const target = attempt(() => fs.statSync(path).isFile() && fs.readlinkSync(path));
  if (!target) return;
  if (writes(path)) could.write.push(target);
  if (reads(path, false)) could.read.push(target);
}

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

visit('/');
const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
// Also what no list shows, and by the way of every process that is seen.
for (const path of named) {
  if (reads(path, false)) could.read.push(path);
  if (fs.existsSync(path) && fs.lstatSync(path).isSocket()) could.sockets.push(path);
  for (const pid of pids) {
    for (const link of ['root', 'cwd']) {
      if (reads(`/proc/${pid}/${link}${path}`, false)) could.read.push(path);
    }
  }
}
for (const pid of pids) {
  const name = attempt(() => fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  if (name) could.seen.push({ pid: Number(pid), name });
}
for (const fd of fs.readdirSync('/proc/self/fd')) {
  attempt(() => could.fds.push(fs.readlinkSync(`/proc/self/fd/${fd}`)));
}
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
const said = execFileSync(
  '/usr/bin/perl',
  [given.calls, JSON.stringify(given.numbers), words[1], ...given.outside, '--', ...could.sockets],
  { encoding: 'utf8' },
);
could.calls = said.trim().split('\n');

const status = fs.readFileSync('/proc/self/status', 'utf8');
for (const key of ['CapEff', 'Seccomp', 'NoNewPrivs', 'Uid', 'Groups'])
  could.who[key] = new RegExp(`^${key}:[^\\S\\n]*(\\S*)`, 'm').exec(status)?.[1];
for (const name of fs.readdirSync('/proc/self/ns'))
  could.who[name] = fs.readlinkSync(`/proc/self/ns/${name}`);
could.symbols = attempt(() => fs.readFileSync('/proc/kallsyms', 'latin1').slice(0, 4096));

const line = Buffer.from(`${JSON.stringify(could)}\n`);
const out = fs.openSync(pipe, O_WRONLY);
for (let at = 0; at < line.length; ) at += fs.writeSync(out, line, at);
