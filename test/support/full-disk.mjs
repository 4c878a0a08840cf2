/**
 * Loaded before a child (`node --import`): a disk that is full at one write to a file beneath FULL_ROOT, and a list of all of those
 * writes in FULL_LIST. FULL_AT says which: `{pattern, nth, how}`, the nth write to a path that matches. `once`: it fails, and there is room
 * for the next one. `short`: half of its bytes fit, and there is room for the next one. `lasting`: half of its bytes fit, and every later
 * write beneath the root fails; one in place fails whole, because it needs no room for half of it. Calls are not counted as strace counts them, because
 * node wakes its own threads by writes, too, and never by the same number of them.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { FULL_ROOT, FULL_LIST, FULL_AT } = process.env;
const at = FULL_AT ? JSON.parse(FULL_AT) : null;
const pattern = at && new RegExp(at.pattern);
const list = fs.openSync(FULL_LIST, 'a');
const { writeSync } = fs;
let met = 0;
let is_full = false;

fs.writeSync = (fd, bytes, offset = 0, length = bytes.length - offset, position = null) => {
  const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
  if (!path.startsWith(`${FULL_ROOT}/`)) return writeSync(fd, bytes, offset, length, position);
  const relative = path.slice(FULL_ROOT.length + 1);
  const is_met = at !== null && pattern.test(relative) && ++met === at.nth;
  writeSync(list, `${JSON.stringify({ path: relative, failed: is_met || is_full })}\n`);
  if (is_met) is_full = at.how === 'lasting';
  const is_short = is_met && (at.how === 'short' || (at.how === 'lasting' && position === null));
  if (is_short) return writeSync(fd, bytes, offset, Math.ceil(length / 2), position);
  if (is_met || is_full) throw Object.assign(new Error('ENOSPC: full, write'), { code: 'ENOSPC' });
  return writeSync(fd, bytes, offset, length, position);
};
syncBuiltinESMExports();
