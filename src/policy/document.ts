import type { z } from 'zod';
import { parseYaml } from '../canonical/yaml.ts';
import { policyLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/** Reads a YAML file that is kept beside the policies, or refuses with the file, the line and what is wrong. */
export function readDocument<T>(file: string, text: string, schema: z.ZodType<T>): T {
  const document = strictYaml(file, text);
  const parsed = schema.safeParse(document.value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const { line } = document.place(path);
  const where = path.length > 0 ? `${path.map(String).join('.')}: ` : '';
  return refuse('POLICY_INVALID', `${file}, line ${line}: ${where}${message}`, { file, line });
}

function strictYaml(file: string, text: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(Buffer.from(text, 'utf8'), policyLimits.file_bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { line = 1 } = error.facts;
    return refuse('POLICY_INVALID', `${file}: ${error.message}`, { file, line });
  }
}
