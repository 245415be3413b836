# `npm test`: every rule of the service, or the files that are named, whatever project they are of.
case "$*" in
  *.test.ts*) ;;
  *) set -- --project service "$@" ;;
esac
exec vitest run --config test/vitest.config.ts "$@"
