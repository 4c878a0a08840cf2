import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Whether this descriptor is the terminal that the person types at. A descriptor that merely is some terminal may be
 * one that is not looked at, so that the question would come without what it is about. In doubt it is not.
 */
export function isControllingTerminal(fd: number): boolean {
  const device = deviceOf(fd);
  return device !== null && (device === DEV_TTY || device === controllingDevice());
}

/** /dev/tty is always the controlling terminal, under a number of its own. */
const DEV_TTY = 5 * 256;

function deviceOf(fd: number): number | null {
  try {
    const found = fstatSync(fd);
    return found.isCharacterDevice() ? found.rdev : null;
  } catch {
    return null;
  }
}

/** The kernel's word, because /dev/tty does not tell which terminal it leads to. */
function controllingDevice(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The name of the program stands in brackets and may hold anything: what follows the last one counts.
    const device = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]);
    return Number.isInteger(device) && device !== 0 ? device >>> 0 : null;
  } catch {
    return null;
  }
}

/**
 * For the end of the process. Node gives the standard descriptors their old settings back, and aborts when the terminal
 * has hung up meanwhile: so it must not find that terminal there any more.
 */
export function atExitLetGo(): void {
  const ours = [0, 1, 2].filter(isControllingTerminal);
  process.once('exit', () => {
    for (const fd of ours) if (!isatty(fd)) replace(fd);
  });
}

function replace(fd: number): void {
  closeSync(fd);
  // The lowest free number is the one that was just closed.
  openSync('/dev/null', 'r+');
}
