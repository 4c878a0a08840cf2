import { HASH, ID, type LaneSpec, type Operand, type OptionSpec } from '../spec.ts';

const queue: OptionSpec = {
  flags: '--queue <dir>',
  about: 'the folder with the three files',
  may_be_empty: true,
};
const id: Operand = { name: '<id>', about: 'the id that the review printed' };
const hash: Operand = { name: '<hash>', about: 'the hash that the review printed' };
const lane = () => import('../lane.ts');

/** The plain-file lane of 000 and 001. */
export const LANE: readonly LaneSpec[] = [
  {
    name: 'lane queue',
    about: 'record that something is wanted: its id and the hash of its text, never the text',
    operands: [
      { name: '<text>', about: 'the intent, or - to read it from standard input, every byte of it' },
    ],
    options: [queue],
    examples: ['keyturn lane queue --queue ./queue "Back up the photos"'],
    answers: async () => (await lane()).laneQueue,
  },
  {
    name: 'lane review',
    about: 'list what is pending, and approve one intent by typing its exact id',
    options: [queue],
    examples: ['keyturn lane review --queue ./queue'],
    answers: async () => (await lane()).laneReview,
  },
  {
    name: 'lane verify',
    about: 'is this id approved with this hash?',
    operands: [id, hash],
    options: [queue],
    examples: [`keyturn lane verify --queue ./queue ${ID} ${HASH}`],
    answers: async () => (await lane()).laneVerify,
  },
  {
    name: 'lane check',
    about: 'may this intent run now? Reads two files and writes nothing',
    operands: [id, hash],
    options: [
      queue,
      {
        flags: '--verifier <command>',
        about: 'an external verifier, called with id and hash',
        may_be_empty: true,
      },
      { flags: '--registry <file>', about: 'accepted as for run, and never opened', may_be_empty: true },
    ],
    examples: [`keyturn lane check --queue ./queue ${ID} ${HASH}`],
    answers: async () => (await lane()).laneCheckAsked,
  },
  {
    name: 'lane run',
    about: 'run the one tool that the registry binds to this intent, once',
    operands: [id, hash],
    options: [
      queue,
      { flags: '--registry <file>', about: 'the tool registry; it must not be writable', may_be_empty: true },
      { flags: '--dry-run', about: 'check everything and show it; run nothing and record nothing' },
    ],
    examples: [`keyturn lane run --queue ./queue --registry ./tools.yaml ${ID} ${HASH}`],
    answers: async () => (await lane()).laneRunAsked,
  },
];
