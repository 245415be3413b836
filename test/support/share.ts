/** The gate tries a quarter of the cases, the same ones each time; with a SEED, as in the long run, all are tried. */
export const share = process.env.SEED === undefined ? 0.25 : 1;

/** Each fourth case, beginning with the first one; with a SEED all. */
export const shareOf = <Case>(cases: readonly Case[]): readonly Case[] =>
  cases.filter((_, index) => index % (1 / share) === 0);
