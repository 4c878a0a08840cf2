import { as, execution, ID, id, type OptionSpec, out, reason, type Spec } from '../spec.ts';

const key: OptionSpec = { flags: '--key <fingerprint>', about: 'the ledger key as its owner told you' };
const withObjects: OptionSpec = {
  flags: '--with-objects',
  about: 'also goals, arguments, decisions and outputs, IN THE CLEAR',
};

/** What happened, provably. */
export const PROOF: readonly Spec[] = [
  {
    name: 'ledger show',
    about: 'the story of one intent or conversation, or the newest entries; also from a file',
    operands: [
      {
        name: '[id]',
        about: 'an intent or a conversation, by its id or its first characters; a name, a digest, or system',
      },
    ],
    options: [
      { flags: '--kind <kind>', about: 'only of this kind, such as approval.granted' },
      { flags: '--by <name>', about: 'only what this human or agent signed' },
      { flags: '--since <time>', about: 'only since then: a time, or an age such as 2h' },
      { flags: '--until <time>', about: 'only before then' },
      { flags: '--limit <n>', about: 'at most this many of the newest; 20 unless told, 1000 about an id' },
      { flags: '--cursor <text>', about: 'go on where the page before ended' },
      { flags: '--file <export>', about: 'verify an export and tell what it says, with no project' },
      { flags: '--bundle <file>', about: 'verify a proof and tell its story, with no project; needs --key' },
      key,
      { flags: '--head <file>', about: 'a head that you kept; with a file', many: true },
      { flags: '--output', about: 'with a file: also what the last run printed' },
    ],
    examples: [
      'keyturn ledger show',
      `keyturn ledger show ${ID}`,
      'keyturn ledger show chat-17',
      'keyturn ledger show --kind approval.granted --by ada --since 2h',
      'keyturn ledger show --bundle proof.json --key sha256:… --output',
      `keyturn ledger show ${ID} --file ledger.jsonl --key sha256:…`,
    ],
    load: async () => (await import('../command/ledger-show.ts')).show,
  },
  {
    name: 'ledger verify',
    about: 'hash every entry again and name the first bad one',
    options: [
      { flags: '--head <file>', about: 'a head that you kept; it finds cuts and rewrites', many: true },
      { flags: '--deep', about: 'also the canonical form and every signature' },
      { flags: '--file <export>', about: 'verify an export or an archive, with no project' },
      { flags: '--and <archive>', about: 'the archive that follows --file, and so on', many: true },
      { flags: '--bundle <file>', about: 'verify a proof, with no project; needs --key' },
      key,
    ],
    examples: [
      'keyturn ledger verify --deep --head kept-head.txt',
      'keyturn ledger verify --file ledger.jsonl --key sha256:…',
      'keyturn ledger verify --bundle proof.json --key sha256:… --head kept-head.txt',
      'keyturn ledger verify --deep --file 2025.jsonl --and 2026.jsonl --key sha256:…',
    ],
    load: async () => (await import('../command/verify.ts')).verify,
  },
  {
    name: 'ledger head',
    about: 'print the signed head; keep it somewhere else',
    options: [out],
    examples: ['keyturn ledger head --out head-2026-01-15.txt'],
    load: async () => (await import('../command/ledger.ts')).head,
  },
  {
    name: 'ledger accept-head',
    about: 'accept the ledger as it is after a restore, although the kept head knows more entries',
    options: [reason, as],
    examples: ['keyturn ledger accept-head --reason "the backup of Monday was restored"'],
    host_only: true,
    load: async () => (await import('../command/accept-head.ts')).acceptHead,
  },
  {
    name: 'ledger prove',
    about: 'write a small proof of one intent that verifies offline',
    operands: [id],
    options: [
      { flags: '--head <file>', about: 'prove growth from this kept head, too', many: true },
      withObjects,
      out,
    ],
    examples: [
      `keyturn ledger prove ${ID} --out proof.json`,
      `keyturn ledger prove ${ID} --with-objects --out proof.json`,
    ],
    load: async () => (await import('../command/ledger.ts')).prove,
  },
  {
    name: 'ledger export',
    about: 'write the whole ledger as JSON Lines',
    options: [withObjects, out],
    examples: [
      'keyturn ledger export --out ledger.jsonl',
      'keyturn ledger export --with-objects --out whole.jsonl',
    ],
    load: async () => (await import('../command/ledger.ts')).exportLedger,
  },
  {
    name: 'ledger archive',
    about: 'write the oldest entries that are not archived yet to a file, with their objects, and record it',
    options: [
      { flags: '--older-than <age>', about: 'such as 90d', required: true },
      {
        flags: '--out <file>',
        about: 'a new file; goals, arguments and outputs IN THE CLEAR',
        required: true,
      },
      reason,
      as,
    ],
    examples: ['keyturn ledger archive --older-than 90d --out 2026-q1.jsonl --reason "end of the quarter"'],
    host_only: true,
    load: async () => (await import('../command/archive.ts')).archive,
  },
  {
    name: 'ledger rebuild',
    about: 'fold the ledger again and compare it with the stored state',
    options: [{ flags: '--write', about: 'replace the stored state by what the ledger says' }],
    examples: ['keyturn ledger rebuild'],
    host_only: true,
    load: async () => (await import('../command/ledger.ts')).rebuild,
  },
  {
    name: 'replay',
    about: 'make every decision on the way to an execution again; fails when one differs',
    operands: [{ ...execution, about: `${execution.about}; \`keyturn show\` prints it` }],
    examples: [`keyturn replay ${ID}`],
    load: async () => (await import('../command/replay.ts')).replay,
  },
  {
    name: 'completion',
    about: 'print a completion script for your shell',
    operands: [{ name: '<shell>', about: 'your shell', choices: ['bash', 'zsh', 'fish'] }],
    examples: ['source <(keyturn completion bash)', 'keyturn completion fish | source'],
    load: async () => (await import('../completion.ts')).completion,
  },
];
