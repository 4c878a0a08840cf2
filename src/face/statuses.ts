// Light, so that help texts can name the words without loading the library.

export { CONVERSATION_STATUSES } from '../gate/agent-state.ts';
export { CAPABILITY_WORDS } from '../gate/capability-word.ts';
export { RUN_WORDS, STATUS_WORDS, STATUSES } from '../gate/status-word.ts';
