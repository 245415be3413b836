#!/bin/sh
# Prints the changes between two versions of functions/openapi.json: a file or a git ref, by default that of
# the newest release, and the one in the repository. Ends with 1 when a change breaks clients.
set -eu
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
before=${1:-$(ls test/settings/released/*/openapi.json | sort -V | tail -n 1)}
if [ ! -f "$before" ]; then
  mkdir -p .reports
  git show "$before:functions/openapi.json" > .reports/openapi-before.json
  before=.reports/openapi-before.json
fi
after=${2:-functions/openapi.json}
redocly diff "$before" "$after" --config test/contract/redocly.yaml || status=$?
node test/contract/codes.ts "$before" "$after"
exit "${status:-0}"
