const isOrigin = (text: string) =>
  /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** What {@link parseOrigins} takes, to follow the name of a setting. */
export const originsRule =
  'must be * or a comma-separated list of origins such as https://app.example.com';

/** The origins that a text names, or `*` alone; undefined when one of them is no origin. */
export const parseOrigins = (text: string): readonly string[] | undefined => {
  const list = text.split(',').map((origin) => origin.trim());
  return text === '*' || list.every(isOrigin) ? list : undefined;
};
