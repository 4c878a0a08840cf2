/**
 * Finds what looks like a credential in text. Every pattern is bounded, so that no text makes it slow. What is found is told by its
 * kind and place only: a report that shows the secret would spread it.
 */

export interface Secret {
  readonly kind: string;
  readonly offset: number;
  readonly text: string;
  /** Certain enough to refuse. Otherwise a person should look. */
  readonly sure: boolean;
}

/** Forms that are nothing else. */
const FORMS: readonly (readonly [kind: string, form: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----/g],
  ['a PuTTY private key', /PuTTY-User-Key-File-[23]:/g],
  ['an AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ['a Google API key', /(?<![\w-])AIza[\w-]{35}(?![\w-])/g],
  ['a Google OAuth secret', /(?<![\w-])(?:GOCSPX-[\w-]{20,64}|ya29\.[\w-]{20,512})/g],
  ['a GitHub token', /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,251})/g],
  ['a GitLab token', /(?<![\w-])gl(?:pat|ptt|dt|rt|cbt)-[\w-]{20,128}/g],
  ['a Slack token', /(?<![\w-])xox[abeoprs]-[A-Za-z0-9-]{10,250}/g],
  ['a Slack webhook', /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9+/]{20,128}/g],
  ['an npm token', /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/g],
  ['a PyPI token', /(?<![\w-])pypi-AgE[\w-]{50,512}/g],
  ['a Stripe key', /(?<!\w)[rs]k_live_[A-Za-z0-9]{16,250}/g],
  ['an API key', /(?<![\w-])sk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{32,250}/g],
  ['a SendGrid key', /(?<![\w.])SG\.[\w-]{16,64}\.[\w-]{16,128}/g],
  ['an Azure storage key', /AccountKey=[A-Za-z0-9+/]{60,120}={0,2}/g],
  ['a JSON web token', /(?<![\w-])eyJ[\w-]{10,2048}\.eyJ[\w-]{10,4096}\.[\w-]{16,2048}/g],
];

/** The name ends with the word: `token_url` and `passwordHash` name something else. */
const NAMES =
  'passw(?:or)?d|passphrase|pwd|secret|token|(?:api|access|auth|private|encryption|signing|secret)[_-]?key|credentials?';
const QUOTED = new RegExp(
  `(?:${NAMES})["'\`\\]]{0,2}\\s{0,8}(?::=|=>|[:=])\\s{0,8}(["'\`])([^"'\`\\n]{4,512})\\1`,
  'gi',
);
const BARE = new RegExp(
  `(?:${NAMES})\\s{0,8}[:=][^\\S\\n]{0,8}([A-Za-z0-9+/_=.~!@$%^&*-]{16,512})(?=[\\s,;#]|$)`,
  'gi',
);
/** Looked for from its `://`: from every letter, 5 MB of letters would take a second. */
const IN_URL = /:\/\/(?<=[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@"'`]{1,128}:([^\s/@"'`]{4,256})@/gi;

/** Where values stand without quotes. In program text a bare word is a name, not a value. */
const BARE_FILES = /(^|\/)(\.env(\..*)?|[^./]+|[^/]*\.(env|ya?ml|ini|cfg|conf|properties|sh|txt|md|toml))$/i;

export function findSecrets(text: string, path: string): Secret[] {
  return [...secretSteps(text, path)].flat();
}

/** The same, one pattern after the other: in a large text each takes its time. */
export function* secretSteps(text: string, path: string): Generator<Secret[]> {
  for (const [kind, form] of FORMS)
    yield [...text.matchAll(form)].map((match) => secretOf(kind, match, match[0], true));
  yield assignments(text, QUOTED, 2, true);
  if (BARE_FILES.test(path)) yield assignments(text, BARE, 1, false);
  yield passwordsInUrls(text);
}

function secretOf(
  kind: string,
  match: RegExpExecArray | RegExpMatchArray,
  text: string,
  sure: boolean,
): Secret {
  return { kind, offset: match.index ?? 0, text, sure };
}

function assignments(text: string, pattern: RegExp, group: number, weak: boolean): Secret[] {
  return [...text.matchAll(pattern)].flatMap((match): Secret[] => {
    const value = match[group]!;
    if (looksRandom(value)) return [secretOf('a secret value', match, value, true)];
    return weak && isPasswordName(match[0]) && !isPlaceholder(value)
      ? [secretOf('what may be a password', match, value, false)]
      : [];
  });
}

function isPasswordName(assignment: string): boolean {
  return /^(passw|passphrase|pwd|secret)/i.test(assignment);
}

function passwordsInUrls(text: string): Secret[] {
  return [...text.matchAll(IN_URL)]
    .filter((match) => !isPlaceholder(match[1]!))
    .map((match) => secretOf('a password in an address', match, match[1]!, looksRandom(match[1]!)));
}

const PLACEHOLDER =
  /^([x*.?#-]+|<.*>|\[.*\]|\$.*|%.*%|%\(.*|\{.*\}|.*\$\{.*|.*\{\{.*|change[-_ ]?me.*|your[-_ ].*|my[-_ ].*|.*(example|placeholder|dummy|sample|redacted).*|password|passwd|secret|token|string|none|null|undefined|true|false|test(ing)?|required|optional)$/i;

function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value.trim());
}

const RANDOM_CHARS_MIN = 16;
/** Bits for each character. English words have about 3 in such short strings, random letters and digits 3.7 and more. */
const RANDOM_BITS = 3.5;

/** Letters and digits without a pattern, and not words put together. */
function looksRandom(value: string): boolean {
  if (value.length < RANDOM_CHARS_MIN || /\s/.test(value) || isPlaceholder(value)) return false;
  if (!/[A-Za-z]/.test(value) || !/[0-9]/.test(value)) return false;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^[.~]{0,2}\//.test(value)) return false;
  if (isWords(value)) return false;
  return entropy(value) >= RANDOM_BITS;
}

const WORD_CHARS_MEAN = 4;

/** `production-database-2024` and `previousTokenValue2`: parts that look like words and are as long as words are. */
function isWords(value: string): boolean {
  const parts = value.split(/[-_./:@]+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part !== '');
  const mean = parts.join('').length / parts.length;
  return (
    mean >= WORD_CHARS_MEAN && parts.every((part) => /^([A-Za-z]{1,20}[0-9]{0,4}|[0-9]{1,4})$/.test(part))
  );
}

function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  const length = [...value].length;
  return [...counts.values()].reduce((bits, n) => bits - (n / length) * Math.log2(n / length), 0);
}
