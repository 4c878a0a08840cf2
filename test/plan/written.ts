/** Actions as a plan writes them, in JSON. */

export const create = (action_id: string, target: string, content = `new ${target}\n`, more = {}) => ({
  action_id,
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content },
  ...more,
});
export const replace = (
  action_id: string,
  target: string,
  pattern: string,
  replacement: string,
  more = {},
) => ({
  action_id,
  action_type: 'FILE_MODIFY',
  target,
  operation: { type: 'text_replace', pattern, replacement },
  ...more,
});
export const remove = (action_id: string, target: string) => ({
  action_id,
  action_type: 'FILE_DELETE',
  target,
  operation: { type: 'delete' },
});
export const rename = (action_id: string, target: string, new_path: string) => ({
  action_id,
  action_type: 'FILE_RENAME',
  target,
  operation: { type: 'rename', new_path },
});
