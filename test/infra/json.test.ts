import { describe, expect, it } from 'vitest';
import { faultInJson } from '../../infra/json.ts';

describe('The check whether a text is JSON', () => {
  it.each([
    ['', 'line 1, column 1'],
    ['{"a": 1', 'line 1, column 8'],
    ['{\n  "a": 1,\n}', 'line 3, column 1'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
    ['{\r\n  a: 1\r\n}', 'line 2, column 3'],
    ["{'a': 1}", 'line 1, column 2'],
    ['[1,\n 2,,\n 3]', 'line 2, column 4'],
    ['{"a": tru}', 'line 1, column 10'],
    ['{"a": "one\ntwo"}', 'line 1, column 11'],
    ['{"a": "at position 9 (line 7 column 7)", b}', 'line 1, column 42'],
    ['["at position 9", b]', 'line 1, column 19'],
    ['{}\n{}', 'line 2, column 1'],
    ['// none\n{}', 'line 1, column 1'],
    ['\uFEFF{}', 'line 1, column 1'],
  ])('finds the fault of %j at %s', (text, place) => {
    expect(faultInJson(text)).toBe(place);
  });

  it.each(['{}', ' [1, "a"]\n', 'null'])('finds no fault in %j', (text) => {
    expect(faultInJson(text)).toBeUndefined();
  });
});
