// `npm start`. Plain JavaScript, because a Node that is too old for the rest must be able to say so.
import '../installation.js';

await import('./serve.ts');
