import { visible } from '../canonical/visible.ts';
import { policyLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { argumentTypes, schemaWith } from './arguments.ts';
import { type CedarEngine, type CedarFinding, type CedarProblem, loadCedar } from './cedar.ts';
import { nestingOf } from './nesting.ts';
import { annotationProblems, type Policy, policyOf } from './policy.ts';
import { about, atLine, type PolicyProblem } from './problem.ts';
import { parseQuorums, type Quorum } from './quorum.ts';
import { type PolicyFile, type PolicySource, QUORUM_FILE } from './source.ts';

export interface Examined {
  readonly policies: readonly Policy[];
  readonly quorums: readonly Quorum[];
  /** Errors before warnings, each in the order of the files. */
  readonly problems: readonly PolicyProblem[];
}

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.cedar$/;

/** Everything that a policy set says, and everything that is wrong with it. Nothing here throws for a bad text. */
export async function examine(source: PolicySource): Promise<Examined> {
  const cedar = await loadCedar();
  const read = source.files.map((file) => readFile(cedar, file));
  const policies = read.flatMap((file) => file.policies);
  const { quorums, problems } = readQuorums(source.quorums);
  const found = [
    ...setProblems(source, policies),
    ...read.flatMap((file) => file.problems),
    ...policies.flatMap(annotationProblems),
    ...doubleIds(policies),
    ...doubleTypes(policies),
    ...problems,
  ];
  // More than the limit is not worth Cedar's time.
  if (policies.length <= policyLimits.policies) found.push(...schemaProblems(cedar, policies));
  return { policies, quorums, problems: sorted(found) };
}

/** Errors first, each thing once: Cedar repeats it for every action. */
function sorted(problems: readonly PolicyProblem[]): PolicyProblem[] {
  const once = [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
  const of = (severity: PolicyProblem['severity']) => once.filter((problem) => problem.severity === severity);
  return [...of('error'), ...of('warning')];
}

interface FileRead {
  readonly policies: readonly Policy[];
  readonly problems: readonly PolicyProblem[];
}

function readFile(cedar: CedarEngine, file: PolicyFile): FileRead {
  const problems = textProblems(file);
  if (problems.length > 0) return { policies: [], problems };
  try {
    return readPolicies(cedar, file);
  } catch (error) {
    return { policies: [], problems: [atLine(file.name, 1, `cannot be read: ${(error as Error).message}`)] };
  }
}

function textProblems({ name, text }: PolicyFile): PolicyProblem[] {
  if (!FILE_NAME.test(name))
    return [atLine(visible(name), 1, 'is not the name of a policy file: letters, digits, then .cedar')];
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > policyLimits.file_bytes)
    return [atLine(name, 1, `has ${bytes} bytes; the most is ${policyLimits.file_bytes}`)];
  const depth = nestingOf(text);
  if (depth > policyLimits.nesting)
    return [atLine(name, 1, `nests ${depth} deep; the most is ${policyLimits.nesting}`)];
  const unseen = text.split(/\r?\n/).findIndex((line) => visible(line) !== line);
  // The human who activates a policy reads it on the screen, so it must show every character.
  return unseen < 0 ? [] : [atLine(name, unseen + 1, 'has an invisible character')];
}

function readPolicies(cedar: CedarEngine, { name, text }: PolicyFile): FileRead {
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === 'failure')
    return {
      policies: [],
      problems: parts.errors.map((error) => atLine(name, lineIn(text, error), wordsOf(error))),
    };
  const lineOf = (part: string) => lineAt(text.slice(0, text.indexOf(part)));
  const problems = parts.policy_templates.map((part) =>
    atLine(name, lineOf(part), 'is a template; write out the policy instead'),
  );
  const policies: Policy[] = [];
  for (const part of parts.policies) {
    const parsed = cedar.policyToJson(part);
    if (parsed.type === 'success') policies.push(policyOf(name, lineOf(part), part, parsed.json));
    else problems.push(atLine(name, lineOf(part), wordsOf(parsed.errors[0]!)));
  }
  return { policies: policies.sort((a, b) => a.line - b.line), problems };
}

function readQuorums(text: string | null): { quorums: readonly Quorum[]; problems: PolicyProblem[] } {
  try {
    return { quorums: parseQuorums(text), problems: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const line = Number(error.facts.line ?? 1);
    const message = error.message.replace(/^quorums\.yaml(, line \d+)?: /, '');
    return { quorums: [], problems: [atLine(QUORUM_FILE, line, message)] };
  }
}

function setProblems({ files }: PolicySource, policies: readonly Policy[]): PolicyProblem[] {
  const names = files.map(({ name }) => name);
  const twice = names.filter((name, i) => names.indexOf(name) !== i);
  const found = twice.map((name) => atLine(name, 1, 'is there twice'));
  if (files.length > policyLimits.files)
    found.push(atLine('policies', 1, `has ${files.length} files; the most is ${policyLimits.files}`));
  if (policies.length > policyLimits.policies)
    found.push(
      atLine('policies', 1, `has ${policies.length} policies; the most is ${policyLimits.policies}`),
    );
  return found;
}

function doubleIds(policies: readonly Policy[]): PolicyProblem[] {
  const first = new Map<string, Policy>();
  return policies.flatMap((policy) => {
    const other = first.get(policy.id);
    if (policy.id === '' || other === undefined) {
      first.set(policy.id, policy);
      return [];
    }
    return [about(policy, `has the same @id as the policy in ${other.file}, line ${other.line}`)];
  });
}

/** One argument has one type. */
function doubleTypes(policies: readonly Policy[]): PolicyProblem[] {
  const types = argumentTypes(policies.flatMap((policy) => policy.arguments));
  return policies.flatMap((policy) =>
    policy.arguments
      .filter(({ tool, parameter, type }) => types.get(tool)!.get(parameter) !== type)
      .map(({ tool, parameter }) =>
        about(policy, `declares "${tool}.${parameter}" with another type than a policy before it`),
      ),
  );
}

/** The strict validator: what it lets through has no missing attribute and no wrong type. */
function schemaProblems(cedar: CedarEngine, policies: readonly Policy[]): PolicyProblem[] {
  const texts = Object.fromEntries(policies.map(({ text }, i) => [String(i), text]));
  const schema = schemaWith(argumentTypes(policies.flatMap((policy) => policy.arguments)));
  const answer = cedar.validate({ schema, policies: { staticPolicies: texts } });
  if (answer.type === 'failure') return answer.errors.map((error) => atLine('policies', 1, wordsOf(error)));
  const told = (found: readonly CedarFinding[], severity: PolicyProblem['severity']) =>
    found.map(({ policyId, error }) => about(policies[Number(policyId)]!, wordsOf(error), severity));
  // Cedar's own order differs from time to time.
  return [...told(answer.validationErrors, 'error'), ...told(answer.validationWarnings, 'warning')].sort(
    (a, b) =>
      a.file.localeCompare(b.file, 'en') || a.line - b.line || a.message.localeCompare(b.message, 'en'),
  );
}

function wordsOf({ message, help }: CedarProblem): string {
  const words = help === null ? message : `${message}; ${help}`;
  return visible(words.replaceAll(NOISE, '').slice(0, policyLimits.message_chars));
}

/** Our own numbers of the policies, and the action out of all actions for which it is wrong. */
const NOISE = /for policy `\d+`, | for Keyturn::Action::"\w+"/g;

/** Cedar counts bytes. */
function lineIn(text: string, { sourceLocations }: CedarProblem): number {
  const start = sourceLocations?.[0]?.start ?? 0;
  return lineAt(Buffer.from(text, 'utf8').subarray(0, start).toString('utf8'));
}

function lineAt(before: string): number {
  return before.split('\n').length;
}
