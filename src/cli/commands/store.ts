import type { Spec } from '../spec.ts';

/** Where the ledger is kept, and what happens in it now. */
export const STORE: readonly Spec[] = [
  {
    name: 'store join',
    about:
      'make the ledger in the configured store the one of this project: on a further host, or after it was moved',
    examples: ['keyturn store join'],
    host_only: true,
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
    host_only: true,
    load: async () => (await import('../command/store.ts')).copy,
  },
  {
    name: 'store migrate',
    about: 'make the tables of a shared store or update them, as the role that owns them',
    operands: [{ name: '<url>', about: 'postgres://OWNER@…; leave a password to PGPASSWORD' }],
    options: [
      {
        flags: '--application <role>',
        about: 'the role that Keyturn works with: it can append to ledgers and not change them',
      },
    ],
    examples: ['keyturn store migrate postgres://keyturn_owner@db.example/keyturn --application keyturn_app'],
    host_only: true,
    load: async () => (await import('../command/store.ts')).migrate,
  },
  {
    name: 'store repair',
    about: 'end a ledger where its entries verify, and set aside what was added past that',
    operands: [
      {
        name: '<url>',
        about: 'postgres://OWNER@…, with the role that owns the tables; shows, and changes nothing',
      },
    ],
    options: [
      { flags: '--keep <entries>', about: 'do it; the number of entries that the look without it named' },
      {
        flags: '--head <file>',
        about: 'a head that you kept; what it covers is never set aside',
        many: true,
      },
      { flags: '--tenant <name>', about: 'whose ledger; without it the one of this project' },
      {
        flags: '--readable-too',
        about: 'also rows that can be read as entries, such as a run or a revocation',
      },
    ],
    examples: [
      'keyturn store repair postgres://keyturn_owner@db.example/keyturn --head kept-head.txt',
      'keyturn store repair postgres://keyturn_owner@db.example/keyturn --head kept-head.txt --keep 1204',
    ],
    host_only: true,
    load: async () => (await import('../command/store.ts')).repair,
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
    name: 'backup',
    about:
      'copy the ledger, its objects and the keys of this host to a new folder, while others go on writing',
    operands: [{ name: '<folder>', about: 'is not there yet' }],
    options: [
      {
        flags: '--no-keys',
        about: 'leave the key files out; without them the restored project needs new ones',
      },
    ],
    examples: ['keyturn backup /backup/keyturn-monday', 'keyturn backup /backup/shared --no-keys'],
    host_only: true,
    load: async () => (await import('../command/backup.ts')).backup,
  },
  {
    name: 'restore',
    about: 'bring a backup into an empty store; one that forgets runs opens only after a human accepted it',
    operands: [{ name: '<folder>', about: 'what `keyturn backup` made' }],
    examples: ['keyturn restore /backup/keyturn-monday'],
    host_only: true,
    load: async () => (await import('../command/backup.ts')).restore,
  },
  {
    name: 'watch',
    about: 'follow the ledger as it grows, one line for each entry; Ctrl-C ends it',
    options: [{ flags: '--since <seq>', about: 'begin with this entry; without it with the next one' }],
    examples: ['keyturn watch', 'keyturn watch --since 0 --json'],
    load: async () => (await import('../command/watch.ts')).watch,
  },
];
