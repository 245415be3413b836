import type { VariableSetting } from '../lib/settings.ts';

const isOrigin = (text: string) =>
  /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** The origins whose pages may call the API from a browser: any (`*`), or stricter, some. */
export const corsOrigins = {
  variable: 'CORS_ORIGINS',
  rule: {
    form: '* or a comma-separated list of origins such as https://app.example.com',
    parse: (text) => {
      const list = text.split(',').map((origin) => origin.trim());
      return text === '*' || list.every(isOrigin) ? list : undefined;
    },
    strictness: (list) => (list.includes('*') ? 0 : 1),
  },
  otherwise: '*',
} as const satisfies VariableSetting<readonly string[]>;
