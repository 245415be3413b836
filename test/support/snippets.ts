/** Reads the code for apps in the documents, exactly as it is printed there. */
import { readFileSync } from 'node:fs';

/** All blocks of a language that begin without a space; together they are the code of one file. */
export const snippets = (
  language: string,
  document = 'functions/CLIENTS.md',
): readonly string[] => {
  const page = readFileSync(document, 'utf8');
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, block = '']) => block);
};

/**
 * The block of functions/CLIENTS.md that contains a text.
 * @param url the address of the service that the block calls
 */
export const snippetWith = (text: string, url: string): string => {
  const block = snippets('\\w+').find((each) => each.includes(text));
  if (!block) throw new Error(`functions/CLIENTS.md has no code with ${text}`);
  return block.replace('http://localhost:3000', url);
};
