import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * Whether this descriptor is the terminal that the person types at. A descriptor that merely is some terminal may be
 * one that nobody looks at, so that the question would come without what it is about. In doubt it is not.
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
 * After the terminal has hung up. Node wants to give the standard descriptors their old settings back at the end, and
 * aborts when the kernel says that there is no terminal any more: so it must not find one there.
 */
export function letGoOf(): void {
  for (const fd of [0, 1, 2]) {
    const device = deviceOf(fd);
    if (device === null || Math.floor(device / 256) % 4096 < 5) continue;
    closeSync(fd);
    openSync('/dev/null', 'r+');
  }
}
