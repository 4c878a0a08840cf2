/** Runs what a look shows, at once: the tests that use it are about processes, not about prompts. */
export async function runAtOnce(keyturn, asked) {
  // Older libraries have flat methods, and ask by themselves.
  if (!keyturn.runs?.run) {
    const { capability: text, ...rest } = asked;
    const older = { ...rest, ...(text && { capability: { text } }) };
    const looked = await keyturn.look?.(older);
    return keyturn.run({ ...older, confirm: async () => true, seen: looked?.seen });
  }
  const { intent_id, hash, capability } = asked;
  const { seen } = await keyturn.runs.look({ intent_id, hash, capability });
  return keyturn.runs.run({ ...asked, seen });
}
