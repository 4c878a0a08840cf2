import { refuse } from '../../refusal.ts';
import { CALLS, type Calls, DENIED, LAST_CALL } from './calls.ts';

/**
 * The filter that the kernel asks at each system call of a confined program, as the bytes that `bwrap --seccomp` takes:
 * classic BPF, eight bytes an instruction, in the byte order of the machine, which is little for both. Pure.
 */
export function callFilter(arch: string): Uint8Array {
  const calls = Object.hasOwn(CALLS, arch) ? CALLS[arch] : undefined;
  if (!calls) {
    refuse(
      'SANDBOX_UNAVAILABLE',
      `The sandbox filters system calls on x64 and arm64, and this machine is ${arch}.`,
    );
  }
  return encode(program(calls));
}

interface Instruction {
  readonly code: number;
  /** How many instructions to skip when the comparison holds, and when it does not. */
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

/** Where the kernel puts what it asks about. Of an argument only the lower half: the kernel looks at no more of these. */
const NUMBER = 0;
const MACHINE = 4;
const argument = (index: number) => 16 + 8 * index;

const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000; // the whole process
const fail = (errno: number) => 0x0005_0000 | errno;
const EPERM = 1;
const ENOSYS = 38;

const load = (at: number): Instruction => ({ code: 0x20, yes: 0, no: 0, value: at });
const give = (value: number): Instruction => ({ code: 0x06, yes: 0, no: 0, value });
const compare = (code: number, value: number, yes: number, no: number): Instruction => ({
  code,
  yes,
  no,
  value,
});
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;

/** The verdict, when the loaded word is this. Jumps reach 255 instructions, so every test carries its own verdict. */
const when = (code: number, value: number, verdict: number) => [compare(code, value, 0, 1), give(verdict)];
const unless = (code: number, value: number, verdict: number) => [compare(code, value, 1, 0), give(verdict)];

/** Tests that are made only for one call. They end with a verdict of their own. */
function only(number: number, tests: readonly Instruction[]): Instruction[] {
  return [compare(EQUAL, number, 0, tests.length), ...tests];
}

function program({ audit, foreign, numbers }: Calls): Instruction[] {
  return [
    load(MACHINE),
    // A number means another call elsewhere: what is not of this machine was not judged.
    ...unless(EQUAL, audit, KILL),
    load(NUMBER),
    ...(foreign === null ? [] : when(AT_LEAST, foreign, KILL)),
    // Its flags are in memory, where a filter cannot look. The C libraries then use clone.
    ...when(EQUAL, numbers.clone3, fail(ENOSYS)),
    ...when(AT_LEAST, LAST_CALL + 1, fail(ENOSYS)),
    ...DENIED.flatMap((name) => {
      const number = numbers[name];
      return number === undefined ? [] : when(EQUAL, number, fail(EPERM));
    }),
    ...only(numbers.clone, [load(argument(0)), ...when(ANY_BIT, NAMESPACES, fail(EPERM)), give(ALLOW)]),
    ...only(numbers.personality, [
      load(argument(0)),
      ...PERSONALITIES.flatMap((value) => when(EQUAL, value, ALLOW)),
      give(fail(EPERM)),
    ]),
    ...only(numbers.ioctl, [
      load(argument(1)),
      ...TERMINAL_INPUT.flatMap((value) => when(EQUAL, value, fail(EPERM))),
      give(ALLOW),
    ]),
    ...only(numbers.socket, [
      load(argument(0)),
      ...FAMILIES.flatMap((value) => when(EQUAL, value, ALLOW)),
      ...unless(EQUAL, AF_NETLINK, fail(EPERM)),
      load(argument(2)),
      ...when(EQUAL, NETLINK_ROUTE, ALLOW),
      give(fail(EPERM)),
    ]),
    ...only(numbers.socketpair, [
      load(argument(0)),
      // Only these have pairs that programs use; to ask for another one makes the kernel load its module.
      ...when(EQUAL, AF_UNIX, ALLOW),
      give(fail(EPERM)),
    ]),
    give(ALLOW),
  ];
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME is a signal number to clone. */
const NAMESPACES = 0x7e02_0000;
/** Plain Linux, and the question which one it is. Others switch off defences such as random addresses. */
const PERSONALITIES = [0, 0xffff_ffff];
/** TIOCSTI and TIOCLINUX put characters into a terminal, where a shell outside would read them. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const AF_UNIX = 1;
/** AF_UNIX, AF_INET and AF_INET6. Others reach the host of a virtual machine (vsock) or little used parts of the kernel. */
const FAMILIES = [AF_UNIX, 2, 10];
/** Only its routing protocol: libraries ask it for the addresses of this machine. */
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [i, { code, yes, no, value }] of instructions.entries()) {
    bytes.writeUInt16LE(code, 8 * i);
    bytes.writeUInt8(yes, 8 * i + 2);
    bytes.writeUInt8(no, 8 * i + 3);
    bytes.writeUInt32LE(value, 8 * i + 4);
  }
  return bytes;
}
