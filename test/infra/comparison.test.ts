/** The comparison at the beginning of README.md, and the file that names the source of each of its cells. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const [, head = '', body = ''] =
  /^(\| \| This service .*)\n\| --- .*\n((?:\|.*\n)+)/m.exec(readme) ?? [];

const cellsOf = (line: string) => line.slice(2, -2).split(' | ');

/** The fields of a line; one that holds a comma stands in quotation marks. */
const fieldsOf = (line: string) =>
  [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted ?? plain,
  );

const [columns = '', ...lines] = readFileSync('.github/comparison.csv', 'utf8').trim().split('\n');

describe('The comparison in README.md', () => {
  it('has the cells of other products that .github/comparison.csv has, in the same order', () => {
    const products = [...head.matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name);
    const cells = body
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [row = '', , ...others] = cellsOf(line);
        return others.map((cell, index) => [row, products[index], cell]);
      });

    expect(products).toHaveLength(7);
    expect(cells).toEqual(lines.map((line) => fieldsOf(line).slice(0, 3)));
  });

  it('has an address and a day for each of these cells', () => {
    const unproved = lines.filter((line) => {
      const [, , , source = '', day = '', ...more] = fieldsOf(line);
      const isAddress = /^https:\/\/\S+( https:\/\/\S+)*$/.test(source);
      return !isAddress || !/^\d{4}-\d\d-\d\d$/.test(day) || more.length > 0;
    });

    expect(columns).toBe('row,product,cell,source,looked_up');
    expect(unproved).toEqual([]);
  });

  it('begins with the prices for 100,000 users that infra/cost.md has', () => {
    const cost = readFileSync('infra/cost.md', 'utf8');
    const said =
      /100,000 monthly\susers cost (\d+) dollars a month, in Amazon\sCognito ([\d,]+) \(Essentials\) or (\d+) \(Lite\)/;
    const [, ours, essentials, lite] = said.exec(readme) ?? [];

    expect(cost).toContain(`\n| 100,000 | ${ours} | ${lite} | ${essentials} |\n`);
  });
});
