/** How a text is formed that several places take. Each form is written once, so that no place takes what another refuses. */

/** A SHA-256 digest. */
export const DIGEST_FORM = /^[0-9a-f]{64}$/;
/** The same, with its algorithm. */
export const FINGERPRINT_FORM = /^sha256:[0-9a-f]{64}$/;
/** In lower case. */
export const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Of a person, a tool, a role, a policy. */
export const NAME_FORM = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** What others name: a task, a plan, an action of one. */
export const WORD_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Of what a tool is called by its client, of an MCP tool. */
export const TITLE_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** A parameter of a tool, a field of a goal. */
export const FIELD_FORM = /^[a-z][a-z0-9_]{0,63}$/;
/** A reason of the finder or the agent core. */
export const REASON_FORM = /^[A-Z][A-Z0-9_]{2,63}$/;
/** Of the environment. */
export const VARIABLE_FORM = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** 32 bytes as base64url. */
export const RAW_32_FORM = /^[A-Za-z0-9_-]{43}$/;
