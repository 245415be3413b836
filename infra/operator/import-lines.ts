import { emailKey } from '../../lib/users/user.ts';
import { type ImportedLine, parseImportedLine } from './imported-user.ts';
import type { Line } from './lines.ts';
import { brokenRule } from './users.ts';

/** A line that is not imported, and why; the reason never quotes it. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

export interface Candidate extends ImportedLine {
  readonly line: number;
}

/** Lines that are dealt with together. */
export interface Block {
  readonly candidates: readonly Candidate[];
  readonly rejections: readonly Rejection[];
  readonly last: Line;
}

/** As many addresses as one request looks up; and lines, where most of them are bad. */
const maxCandidates = 100;
const maxLines = 1000;

type Judgement = Candidate | Rejection;

const parse = (line: number, text: string, now: Date): Judgement => {
  try {
    return { line, ...parseImportedLine(text, now) };
  } catch (error) {
    const reason = brokenRule(error);
    if (reason === undefined) throw error;
    return { line, reason };
  }
};

/** What is to be done with a line, by what it says and where its email appeared before. */
const judge = (line: Line, seen: Map<string, number>, now: Date): Judgement | undefined => {
  const { number, text = '', fault } = line;
  if (fault) return { line: number, reason: fault };
  if (text.trim() === '') return undefined;
  const judgement = parse(number, text, now);
  if ('reason' in judgement) return judgement;
  const key = emailKey(judgement.user.email);
  const before = seen.get(key);
  if (before) return { line: number, reason: `has the email of line ${before}` };
  seen.set(key, number);
  return judgement;
};

/** The lines of an import, judged, in blocks; blank ones are left out. */
export async function* readBlocks(
  lines: AsyncIterable<Line>,
  { now }: { now: Date },
): AsyncGenerator<Block> {
  const seen = new Map<string, number>();
  let judged: Judgement[] = [];
  let candidates = 0;
  let last: Line | undefined;
  const finish = (end: Line): Block => ({
    candidates: judged.filter((judgement) => 'user' in judgement),
    rejections: judged.filter((judgement) => 'reason' in judgement),
    last: end,
  });

  for await (const line of lines) {
    last = line;
    const judgement = judge(line, seen, now);
    if (!judgement) continue;
    judged.push(judgement);
    if ('user' in judgement) candidates += 1;
    if (candidates < maxCandidates && judged.length < maxLines) continue;
    yield finish(line);
    [judged, candidates] = [[], 0];
  }
  if (last && judged.length > 0) yield finish(last);
}
