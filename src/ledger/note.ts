import { sha256 } from '../canonical/digest.ts';
import {
  keyPairFromSeed,
  type PublicKey,
  privateKeyOf,
  publicKeyOf,
  type Seed,
  sign,
  verifyEd25519,
} from '../canonical/ed25519.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/**
 * Signed notes as https://c2sp.org/signed-note defines them, with Ed25519 keys only. What parses is written back byte
 * for byte, so one signature has one text.
 */

export interface VerifierKey {
  readonly name: string;
  /** The first four bytes of a hash, in hexadecimal. It finds the signature; it proves nothing. */
  readonly id: string;
  readonly public_key: PublicKey;
}

export interface NoteSignature {
  readonly name: string;
  readonly id: string;
  readonly signature: string;
}

export interface Note {
  /** What is signed, with its last newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const ED25519 = Buffer.from([1]);
const KEY_NAME = /^[^\p{White_Space}\p{Cc}+]{1,255}$/u;
const VERIFIER_KEY = /^([^+]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})$/;
const SIGNATURE_LINE = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/;
const CONTROL = /[\0-\x09\x0b-\x1f]/;

export function verifierKey(name: string, public_key: PublicKey): VerifierKey {
  if (!KEY_NAME.test(name) || !name.isWellFormed())
    refuse('HEAD_MALFORMED', 'The name of the ledger key is empty or has spaces or plus signs.');
  const raw = Buffer.from(public_key, 'base64');
  if (raw.length !== 32 || raw.toString('base64') !== public_key)
    refuse('HEAD_MALFORMED', 'The ledger key is not an Ed25519 public key.');
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), ED25519, raw])).slice(0, 8);
  return { name, id, public_key };
}

/** One line that an auditor can keep: `name+id+base64`. */
export function formatVerifierKey({ name, id, public_key }: VerifierKey): string {
  const typed = Buffer.concat([ED25519, Buffer.from(public_key, 'base64')]);
  return `${name}+${id}+${typed.toString('base64')}`;
}

export function parseVerifierKey(text: string): VerifierKey {
  const [, name, typed] = VERIFIER_KEY.exec(text) ?? refuse('HEAD_MALFORMED', 'Not a verifier key.');
  const public_key = Buffer.from(typed!, 'base64').subarray(1).toString('base64');
  const key = verifierKey(name!, public_key);
  // Writing it back checks the algorithm byte and the id.
  if (formatVerifierKey(key) !== text) refuse('HEAD_MALFORMED', 'The verifier key contradicts itself.');
  return key;
}

export function signNote(text: string, name: string, seed: Seed): string {
  const { id } = verifierKey(name, keyPairFromSeed(seed).public_key);
  const signature = sign(Buffer.from(text), privateKeyOf(seed));
  const note = formatNote({ text, signatures: [{ name, id, signature }] });
  parseNote(note);
  return note;
}

/** The text of a note, once the given key has verified it. Signatures by other keys say nothing and are passed over. */
export function openNote(note: string, key: VerifierKey): string {
  const { text, signatures } = parseNote(note);
  const known = signatures.filter(({ name, id }) => name === key.name && id === key.id);
  if (known.length === 0) refuse('HEAD_SIGNATURE_INVALID', `The head is not signed by ${key.name}.`);
  const public_key = publicKeyOf(key.public_key);
  if (!known.every(({ signature }) => verifyEd25519(Buffer.from(text), signature, public_key)))
    refuse('HEAD_SIGNATURE_INVALID', `The signature by ${key.name} does not verify.`);
  return text;
}

export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`;
}

function formatSignature({ name, id, signature }: NoteSignature): string {
  const tagged = Buffer.concat([Buffer.from(id, 'hex'), Buffer.from(signature, 'base64')]);
  return `— ${name} ${tagged.toString('base64')}\n`;
}

export function parseNote(note: string): Note {
  if (note.length > limits.json_string_chars)
    refuse('HEAD_MALFORMED', `The note has more than ${limits.json_string_chars} characters.`);
  if (!note.isWellFormed() || CONTROL.test(note)) refuse('HEAD_MALFORMED', 'The note is not plain text.');
  const end = note.lastIndexOf('\n\n') + 1;
  if (end === 0) refuse('HEAD_MALFORMED', 'The note has no text or no signatures.');
  const lines = note.slice(end + 1, -1).split('\n');
  if (lines.length > limits.note_signatures)
    refuse('HEAD_MALFORMED', `The note has more than ${limits.note_signatures} signatures.`);
  const parsed = { text: note.slice(0, end), signatures: lines.map(parseSignature) };
  // A cut line, or a second base64 form of the same signature, does not come back as it was.
  if (formatNote(parsed) !== note) refuse('HEAD_MALFORMED', 'The note is not in its one form.');
  return parsed;
}

function parseSignature(line: string): NoteSignature {
  const [, name, tagged] = SIGNATURE_LINE.exec(line) ?? refuse('HEAD_MALFORMED', 'Not a signature line.');
  const bytes = Buffer.from(tagged!, 'base64');
  if (!KEY_NAME.test(name!) || bytes.length < 5) refuse('HEAD_MALFORMED', 'Not a signature line.');
  return {
    name: name!,
    id: bytes.toString('hex', 0, 4),
    signature: bytes.subarray(4).toString('base64'),
  };
}
