import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestService } from '../../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
const section = readme.slice(readme.indexOf('\n## Five-minute tour\n')).split('\n## ')[1] ?? '';
const [start = '', ...steps] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, lines = '']) => lines,
);

/** The settings before `npm start`. */
const settings = Object.fromEntries(
  [...start.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name, value]),
);

const service = await startTestService(settings);
afterAll(() => service.stop());

describe('The five-minute tour of README.md', () => {
  it('prints what it says, pasted into a shell from top to bottom', () => {
    const script = steps.join('').replace('http://localhost:3000', service.url);
    const promised = [...script.matchAll(/^# (.+)$/gm)].flatMap(([, line = '']) => line.split('…'));

    const printed = execFileSync('sh', ['-e', '-c', script], { encoding: 'utf8' });

    expect(promised.length).toBeGreaterThan(5);
    let end = 0;
    for (const part of promised) {
      const begin = printed.indexOf(part, end);
      expect(begin, part).toBeGreaterThanOrEqual(end);
      end = begin + part.length;
    }
    expect(printed).toContain('rel="next"');
  });
});
