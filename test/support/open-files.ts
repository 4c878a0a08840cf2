import { readdirSync, readlinkSync } from 'node:fs';

/** The files beneath a folder that this process has open, by what the kernel calls them. */
export function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return []; // the listing itself had it open
    }
  });
}
