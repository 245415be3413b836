/** The orders function of functions/client/README.md, which writes its trail through `createTrail`. */
import { snippets } from './snippets.ts';

/** The code of the function, exactly as it is printed there. */
export const ordersFunction = (): string => {
  const blocks = snippets('js', 'functions/client/README.md');
  const block = blocks.find((each) => each.includes('createTrail'));
  if (!block) throw new Error('functions/client/README.md has no function with createTrail');
  return block;
};
