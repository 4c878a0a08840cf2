import type { Spec } from '../spec.ts';

/** Where the ledger is kept, and what happens in it now. */
export const STORE: readonly Spec[] = [
  {
    name: 'store join',
    about: 'make the ledger in the configured store the one of this project, on a further host',
    examples: ['keyturn store join'],
    load: async () => (await import('../command/join.ts')).join,
  },
  {
    name: 'store copy',
    about: 'copy a ledger with its objects to another store, or go on with a copy that broke off',
    operands: [
      { name: '<from>', about: 'postgres://…, sqlite:PATH or a path; leave a password to PGPASSWORD' },
      { name: '<to>', about: 'the same; a store that is not there is made' },
    ],
    options: [{ flags: '--tenant <name>', about: 'whose ledger; without it the one of this project' }],
    examples: [
      'keyturn store copy .keyturn/store.db postgres://keyturn_app@db.example/keyturn',
      'keyturn store copy postgres://keyturn_app@db.example/keyturn sqlite:archive.db --tenant default',
    ],
    load: async () => (await import('../command/store.ts')).copy,
  },
  {
    name: 'store verify',
    about: 'check all that is stored: the ledger, the state against the ledger, each object',
    options: [
      { flags: '--head <file>', about: 'a head that you kept; it finds cuts and rewrites', many: true },
      { flags: '--deep', about: 'also the canonical form and every signature' },
      { flags: '--key <fingerprint>', about: 'the ledger key as its owner told you' },
    ],
    examples: ['keyturn store verify', 'keyturn store verify --deep --head kept-head.txt'],
    load: async () => (await import('../command/store.ts')).verify,
  },
  {
    name: 'watch',
    about: 'follow the ledger as it grows, one line for each entry; Ctrl-C ends it',
    options: [{ flags: '--since <seq>', about: 'begin with this entry; without it with the next one' }],
    examples: ['keyturn watch', 'keyturn watch --since 0 --json'],
    load: async () => (await import('../command/watch.ts')).watch,
  },
];
