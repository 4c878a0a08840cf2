/**
 * One vocabulary of paths for policies, for the constraints of an intent and for the person who reads them: what lies beneath
 * the project is relative to it, with `/` and without a leading `./`, and `.` is all of it; everything else is absolute.
 */
export function projectPaths(root: string, path: string): string[] {
  if (!path.startsWith('/')) return [path];
  if (path === root) return ['.'];
  if (path.startsWith(below(root))) return [path.slice(below(root).length)];
  // A folder that the project lies in holds all of the project, and more.
  return root.startsWith(below(path)) ? [path, '.'] : [path];
}

/** Whether the inner path is the outer one, or lies beneath it. A relative and an absolute path never contain each other. */
export function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  if (inner.startsWith('/') !== outer.startsWith('/')) return false;
  return outer === '.' || inner.startsWith(below(outer));
}

function below(folder: string): string {
  return folder === '/' ? '/' : `${folder}/`;
}
