/** The gate tries a quarter of the cases, the same cases each time; with a SEED, as in the long run, all are tried. */
export const share = process.env.SEED === undefined ? 0.25 : 1;

/** Every fourth case, beginning with the first; with a SEED all cases. */
export const shareOf = <Case>(cases: readonly Case[]): readonly Case[] =>
  cases.filter((_, index) => index % (1 / share) === 0);
