/** The numbers of the system calls that the filter judges, for each machine that it knows. */

/** Calls that no confined program needs. They fail with EPERM. */
export const DENIED = [
  // Mounts: every one of them could uncover what the sandbox hides.
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  // Namespaces: in one of its own a program has every capability, and most holes of the kernel need one.
  'setns',
  'unshare',
  // Other processes and their memory.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'process_madvise',
  'pidfd_getfd',
  'kcmp',
  'move_pages',
  'migrate_pages',
  // Keyrings have no namespace: these are the keys of the user outside.
  'add_key',
  'request_key',
  'keyctl',
  // Large parts of the kernel that a tool has no use for. io_uring would also pass this filter by.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'fanotify_init',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  // The machine itself.
  'reboot',
  'swapon',
  'swapoff',
  'settimeofday',
  'clock_settime',
  'clock_adjtime',
  'adjtimex',
  'acct',
  'quotactl',
  'quotactl_fd',
  'syslog',
  'sethostname',
  'setdomainname',
  'vhangup',
  // Opens a file by its number, whatever is mounted over its name.
  'open_by_handle_at',
  // Only on x64: ports of the machine, and segments.
  'iopl',
  'ioperm',
  'modify_ldt',
] as const;

/** Calls that are judged by their arguments, or denied in another way. */
type Judged = 'clone' | 'clone3' | 'ioctl' | 'personality' | 'socket' | 'socketpair';
type OnlyX64 = 'iopl' | 'ioperm' | 'modify_ldt';
type Denied = (typeof DENIED)[number];

export interface Calls {
  /** What the kernel calls this machine: AUDIT_ARCH_… */
  readonly audit: number;
  /** Numbers from here on are those of another convention (x32), which this machine also takes. */
  readonly foreign: number | null;
  readonly numbers: Readonly<
    Record<Exclude<Denied, OnlyX64> | Judged, number> & Partial<Record<OnlyX64, number>>
  >;
}

/**
 * The newest call that was looked at: file_setattr, of Linux 6.17. A kernel may know more, and what they do is not known
 * here, so they do not exist inside. Since 5.1 new calls have one number on every machine.
 */
export const LAST_CALL = 469;

const SHARED = {
  clone3: 435,
  open_tree: 428,
  open_tree_attr: 467,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  process_madvise: 440,
  pidfd_getfd: 438,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  quotactl_fd: 443,
} as const;

const X64: Calls = {
  audit: 0xc000_003e,
  foreign: 0x4000_0000,
  numbers: {
    ...SHARED,
    mount: 165,
    umount2: 166,
    pivot_root: 155,
    chroot: 161,
    setns: 308,
    unshare: 272,
    ptrace: 101,
    process_vm_readv: 310,
    process_vm_writev: 311,
    kcmp: 312,
    move_pages: 279,
    migrate_pages: 256,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    bpf: 321,
    perf_event_open: 298,
    userfaultfd: 323,
    fanotify_init: 300,
    kexec_load: 246,
    kexec_file_load: 320,
    init_module: 175,
    finit_module: 313,
    delete_module: 176,
    reboot: 169,
    swapon: 167,
    swapoff: 168,
    settimeofday: 164,
    clock_settime: 227,
    clock_adjtime: 305,
    adjtimex: 159,
    acct: 163,
    quotactl: 179,
    syslog: 103,
    sethostname: 170,
    setdomainname: 171,
    vhangup: 153,
    open_by_handle_at: 304,
    iopl: 172,
    ioperm: 173,
    modify_ldt: 154,
    clone: 56,
    ioctl: 16,
    personality: 135,
    socket: 41,
    socketpair: 53,
  },
};

const ARM64: Calls = {
  audit: 0xc000_00b7,
  foreign: null,
  numbers: {
    ...SHARED,
    mount: 40,
    umount2: 39,
    pivot_root: 41,
    chroot: 51,
    setns: 268,
    unshare: 97,
    ptrace: 117,
    process_vm_readv: 270,
    process_vm_writev: 271,
    kcmp: 272,
    move_pages: 239,
    migrate_pages: 238,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    bpf: 280,
    perf_event_open: 241,
    userfaultfd: 282,
    fanotify_init: 262,
    kexec_load: 104,
    kexec_file_load: 294,
    init_module: 105,
    finit_module: 273,
    delete_module: 106,
    reboot: 142,
    swapon: 224,
    swapoff: 225,
    settimeofday: 170,
    clock_settime: 112,
    clock_adjtime: 266,
    adjtimex: 171,
    acct: 89,
    quotactl: 60,
    syslog: 116,
    sethostname: 161,
    setdomainname: 162,
    vhangup: 58,
    open_by_handle_at: 265,
    clone: 220,
    ioctl: 29,
    personality: 92,
    socket: 198,
    socketpair: 199,
  },
};

/** By the name that Node gives the machine (`process.arch`). */
export const CALLS: Readonly<Partial<Record<string, Calls>>> = { x64: X64, arm64: ARM64 };
