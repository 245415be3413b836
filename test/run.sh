# `npm test`: every rule of the service. `npm test -- NAME` runs a part, a project of vitest.config.ts;
# `npm test -- FILE` runs files, whatever project they are of.
case "${1:--}" in
  -* | *[/.]*) ;;
  *) exec vitest run --config test/vitest.config.ts --project "$@" ;;
esac
case "$*" in
  *.test.ts*) ;;
  *) set -- --project service "$@" ;;
esac
exec vitest run --config test/vitest.config.ts "$@"
