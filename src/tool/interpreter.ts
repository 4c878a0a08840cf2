import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';

/** How the interpreters of one family read their command line. An option that is not here may take the next argument, or may not. */
interface Family {
  readonly name: RegExp;
  /** After one of these they run a text, or a module by its name, and no file of the command line. */
  readonly text: RegExp;
  /** They have a value in the next argument. */
  readonly valued: RegExp;
  /** They have none. */
  readonly alone: RegExp;
  /** Commands of the interpreter itself, which may stand before the script. */
  readonly words: readonly string[];
  /** The endings that the interpreter adds to a name that is not there. */
  readonly endings: readonly string[];
}

const NONE = /^(?!)/;

const FAMILIES: readonly Family[] = [
  {
    name: /^(?:node|nodejs|bun|deno|tsx|ts-node)[\d.]*$/,
    text: /^(?:-e|-p|-pe|--eval|--print)$/,
    valued:
      /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--env-file-if-exists|--title)$/,
    alone:
      /^(?:-[iA]|--no-[\w-]+|--allow-(?!fs-)[\w-]+|--enable-source-maps|--expose-gc|--preserve-symlinks(?:-main)?|--inspect(?:-brk)?|--trace-(?:warnings|deprecation|uncaught)|--use-system-ca|--experimental-(?:strip-types|transform-types|vm-modules|sqlite)|--smol|--hot|--watch|--bun)$/,
    words: ['run', 'x', 'exec', 'test', 'task', 'eval', 'serve', 'repl', 'watch', 'inspect', 'debug'],
    endings: ['.js', '.node', '.json', '.ts', '.tsx', '.mjs'],
  },
  {
    name: /^(?:python|pypy)[\d.]*$/,
    text: /^-[bBdEhiIOPqRsSuvx]*[cm]/,
    valued: /^(?:-[WX]|--check-hash-based-pycs)$/,
    alone: /^-(?:[bBdEiIOPqRsSuvx]+|[WX].+)$/,
    words: [],
    endings: [],
  },
  {
    name: /^(?:sh|bash|dash|ash|zsh|ksh)[\d.]*$/,
    // Not every word with a `c`: bash takes `-rcfile` and `-norc`, too.
    text: /^-[abefhiklmnprtuvxBCEH]*c$/,
    valued: /^(?:[-+][abefhiklmnprtuvxBCEH]*[oO]|--rcfile|--init-file)$/,
    alone: /^(?:[-+][abefhiklmnprtuvxBCEH]+|--(?:login|norc|noprofile|posix|noediting|restricted|verbose))$/,
    words: [],
    endings: [],
  },
  {
    name: /^perl[\d.]*$/,
    // Not `-ie`, which writes in place and keeps a copy with the ending `e`.
    text: /^-[acfnpstTuUwWX0-9]*[eE]/,
    valued: /^-I$/,
    alone: /^-(?:[acfnpstTuUwWX]+|[l0][0-7]*|C\d*|i.*|[MmIF].+)$/,
    words: [],
    endings: [],
  },
  {
    name: /^ruby[\d.]*$/,
    text: /^-[aclnpw]*e/,
    valued: /^-[IrCE]$/,
    alone: /^-(?:[acdlnpvw]+|W.*|[IrCEKT].+)$/,
    words: [],
    endings: ['.rb'],
  },
  {
    name: /^php[\d.]*$/,
    text: /^(?:-r|--run)$/,
    valued: /^-[cdz]$/,
    alone: /^-[nqCH]$/,
    words: [],
    endings: [],
  },
  {
    name: /^lua(?:jit)?[\d.]*$/,
    text: NONE,
    valued: /^-[el]$/,
    alone: /^-(?:[iEWv]|[el].+)$/,
    words: [],
    endings: [],
  },
  {
    name: /^(?:fish|Rscript|tclsh|pwsh|gawk|mawk|awk)[\d.]*$/,
    text: NONE,
    valued: NONE,
    alone: NONE,
    words: [],
    endings: [],
  },
];

/** Programs that start the one that their arguments name. */
const LAUNCHER =
  /^(?:env|nice|ionice|nohup|setsid|stdbuf|timeout|time|busybox|sudo|doas|setpriv|runuser|chrt|taskset|flock|unshare|bwrap|strace|npx|bunx|pnpx|uv|uvx|pipx)$/;

function familyOf(program: string): Family | undefined {
  return FAMILIES.find(({ name }) => name.test(basename(program)));
}

/** Programs that run what they are given, so that the file which matters is an argument. */
export function isInterpreter(program: string): boolean {
  return familyOf(program) !== undefined || /^java[\d.]*$/.test(basename(program));
}

/** The command line of the interpreter: that of the program, or the one that env and the like start. Null where there is none. */
export function interpretedLine(program: string, args: readonly string[]): readonly string[] | null {
  const names = [program, realName(program)];
  const name = names.find((one) => familyOf(one) !== undefined);
  if (name !== undefined) return [name, ...args];
  const at = args.findIndex((arg) => familyOf(arg) !== undefined);
  return at >= 0 && names.some((one) => LAUNCHER.test(basename(one))) ? args.slice(at) : null;
}

function realName(program: string): string {
  try {
    return realpathSync.native(program);
  } catch {
    return program;
  }
}

/**
 * What an interpreter may load code from, of its arguments: its options with their values, and its script. After a script that is certain
 * come the arguments of the script, such as a database that changes as it is used. Where an option is not known, any of them may be the script.
 */
export function loadedBy([program = '', ...args]: readonly string[], cwd: string): string[] {
  const { endings } = familyOf(program)!;
  const loaded = args.slice(0, certainEnd(program, args, cwd) ?? args.length);
  const values = loaded.map((arg) => arg.replace(/^--[\w-]+=|^-[A-Za-z](?=[./])/, ''));
  return values.flatMap((value) => ['', ...endings].map((ending) => resolve(cwd, `${value}${ending}`)));
}

/** How many arguments there are up to the script, and with it; null where that is not certain. */
function certainEnd(program: string, args: readonly string[], cwd: string): number | null {
  const { text, valued, alone, words, endings } = familyOf(program)!;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (text.test(arg)) return at;
    if (arg === '--') return at + 2;
    if (/^(?:bun|deno)$/.test(basename(program)) && at === 0 && arg === 'run') continue;
    if (valued.test(arg)) at += 1;
    else if (/^--[\w-]+=/.test(arg) || alone.test(arg)) continue;
    else if (/^[-+]./.test(arg) || words.includes(arg)) return null;
    else return ['', ...endings].some((ending) => isThere(resolve(cwd, `${arg}${ending}`))) ? at + 1 : null;
  }
  return args.length;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
