#!/usr/bin/env bash
# Installs laneval into an environment of its own, and says where the command is: `command` among the outputs of the step.
#
#   LANEVAL_VERSION   the version to install; empty: the checkout of this action, which is built, with Rust
#   RUNNER_TEMP, GITHUB_ACTION_PATH, GITHUB_OUTPUT, as GitHub sets them
set -euo pipefail

if [ -n "${LANEVAL_VERSION-}" ]; then
    # Only a version: what pip would read as more is refused.
    [[ $LANEVAL_VERSION =~ ^[0-9][0-9A-Za-z.]*$ ]] || { echo "version is '$LANEVAL_VERSION': one such as 0.1.0 was expected" >&2; exit 2; }
    what=(--only-binary laneval "laneval==$LANEVAL_VERSION")
else
    what=("$GITHUB_ACTION_PATH")
fi
python=$(command -v python3 || command -v python) || { echo "there is no Python to install laneval with" >&2; exit 2; }
environment=$(mktemp -d "$RUNNER_TEMP/laneval.XXXXXX")
"$python" -m venv "$environment"
programs=$environment/bin
[ -d "$programs" ] || programs=$environment/Scripts # on Windows
"$programs/python" -m pip install --quiet --disable-pip-version-check "${what[@]}"
"$programs/laneval" --version
echo "command=$programs/laneval" >>"$GITHUB_OUTPUT"
