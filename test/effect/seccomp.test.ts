import { describe, expect, it } from 'vitest';
import { CALLS, DENIED, LAST_CALL } from '../../src/effect/seccomp/calls.ts';
import { callFilter } from '../../src/effect/seccomp/filter.ts';
import { expectRefusal } from '../support/refusal.ts';

const ALLOW = 'allow';
const KILL = 'kill';
const EPERM = 'errno 1';
const ENOSYS = 'errno 38';

interface Asked {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly number[];
}

/** Classic BPF as the kernel runs it, for the instructions that a filter may have. Throws where the kernel refuses one. */
function judge(filter: Uint8Array, { arch, nr, args = [] }: Asked): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  for (const [i, value] of args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * i);
  const code = Buffer.from(filter);
  let accumulator = 0;
  for (let at = 0; at * 8 < code.length; ) {
    const [operation, yes, no, value] = [
      code.readUInt16LE(at * 8),
      code.readUInt8(at * 8 + 2),
      code.readUInt8(at * 8 + 3),
      code.readUInt32LE(at * 8 + 4),
    ];
    at += 1;
    if (operation === 0x20) accumulator = data.readUInt32LE(value);
    else if (operation === 0x06) return verdictOf(value);
    else if (operation === 0x15) at += accumulator === value ? yes : no;
    else if (operation === 0x35) at += accumulator >= value ? yes : no;
    else if (operation === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else throw new Error(`no such instruction: ${operation}`);
  }
  throw new Error('ran past the end');
}

function verdictOf(value: number): string {
  if (value === 0x7fff0000) return ALLOW;
  if (value === 0x80000000) return KILL;
  return value >>> 16 === 5 ? `errno ${value & 0xffff}` : `unknown ${value}`;
}

const I386 = 0x4000_0003;
const ARM = 0x4000_0028;

describe.each(['x64', 'arm64'])('the filter of system calls on %s', (arch) => {
  const filter = callFilter(arch);
  const { audit, numbers } = CALLS[arch]!;
  const ask = (nr: number, ...args: number[]) => judge(filter, { arch: audit, nr, args });

  it('gives each number the verdict that its name has', () => {
    const denied = new Set(DENIED.map((name) => numbers[name]));
    for (let nr = 0; nr <= 2000; nr++) {
      const expected =
        nr === numbers.clone3 || nr > LAST_CALL
          ? ENOSYS
          : denied.has(nr)
            ? EPERM
            : nr === numbers.socket || nr === numbers.socketpair
              ? EPERM // AF_UNSPEC
              : ALLOW;
      expect([nr, ask(nr)]).toEqual([nr, expected]);
    }
  });

  it('kills what is not called in the way of this machine', () => {
    for (const foreign of [I386, ARM, 0, audit ^ 1, audit ^ 0x8000_0000]) {
      for (const nr of [0, 1, numbers.mount, LAST_CALL, 0xffff_ffff]) {
        expect(judge(filter, { arch: foreign, nr })).toBe(KILL);
      }
    }
    const x32 = [0x4000_0000, 0x4000_0000 + 1, 0x4000_0000 + 520, 0xffff_ffff];
    for (const nr of x32) expect(ask(nr)).toBe(arch === 'x64' ? KILL : ENOSYS);
  });

  it('lets clone make threads and processes, and no namespace', () => {
    const thread = 0x3d0f00;
    expect([ask(numbers.clone, thread), ask(numbers.clone, 0x0120_0011), ask(numbers.clone, 0x4111)]).toEqual(
      [ALLOW, ALLOW, ALLOW],
    );
    for (const bit of [17, 25, 26, 27, 28, 29, 30]) {
      expect(ask(numbers.clone, 2 ** bit)).toBe(EPERM);
      expect(ask(numbers.clone, thread + 2 ** bit)).toBe(EPERM);
    }
  });

  it('allows the plain personality, and types into no terminal', () => {
    expect(ask(numbers.personality, 0)).toBe(ALLOW);
    expect(ask(numbers.personality, 0xffff_ffff)).toBe(ALLOW);
    for (const other of [8, 0x20000, 0x40000, 0x400000]) expect(ask(numbers.personality, other)).toBe(EPERM);
    expect(ask(numbers.ioctl, 0, 0x5401)).toBe(ALLOW);
    for (const request of [0x5412, 0x541c, 2 ** 32 + 0x5412])
      expect(ask(numbers.ioctl, 0, request)).toBe(EPERM);
  });

  it('gives sockets of the families that programs need, and of netlink only the routes', () => {
    for (let family = 0; family < 64; family++) {
      expect(ask(numbers.socket, family, 1, 0)).toBe([1, 2, 10, 16].includes(family) ? ALLOW : EPERM);
    }
    for (let family = 0; family < 64; family++)
      expect(ask(numbers.socketpair, family, 1, 0)).toBe(family === 1 ? ALLOW : EPERM);
    for (let protocol = 1; protocol < 32; protocol++) {
      expect(ask(numbers.socket, 16, 3, protocol)).toBe(EPERM);
    }
  });

  it('has no two names for one number', () => {
    const all = Object.values(numbers);
    expect(new Set(all).size).toBe(all.length);
    expect(Math.max(...all)).toBeLessThanOrEqual(LAST_CALL);
  });
});

describe('callFilter', () => {
  it('refuses a machine whose calls it does not know', async () => {
    for (const arch of ['ia32', 'arm', 'riscv64', 's390x', 'toString']) {
      await expectRefusal('SANDBOX_UNAVAILABLE', () => callFilter(arch));
    }
  });
});
