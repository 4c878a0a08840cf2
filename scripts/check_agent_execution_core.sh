#!/bin/sh
# Fails the build on each of the seven conditions of specification 003, section 14.
# Takes the folder of a source tree; without one, the tree that this script is part of.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
exec node "$here/check-agent-execution-core.mjs" "${1:-$here/..}"
