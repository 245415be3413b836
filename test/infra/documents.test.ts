import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const folders = ['functions', 'lib', 'infra', 'test'];
const read = (file: string) => readFileSync(file, 'utf8');

const documents = globSync(['*.md', '.github/**/*.md', ...folders.map((name) => `${name}/**/*.md`)])
  .sort()
  .map((path) => ({ path, text: read(path) }));
const code = globSync(folders.map((name) => `${name}/**/*.{ts,js,py}`));

/** The text without its code blocks, which hold no links, and whose `#` begin no headings. */
const proseOf = (text: string) => text.replaceAll(/^```.*?^```$/gms, '');

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const headingsOf = (path: string) =>
  [...proseOf(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);

const linksOf = (text: string) =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !target.startsWith('https:'));

/** What is wrong with a link in a document; nothing when it leads somewhere. */
const brokenLink = (document: string, link: string): string | undefined => {
  const [path = '', anchor] = link.split('#');
  const target = path ? join(dirname(document), path) : document;
  if (!existsSync(target)) return `${link}: there is no ${target}`;
  if (anchor === undefined || headingsOf(target).map(anchorOf).includes(anchor)) return undefined;
  return `${link}: ${target} has no such heading`;
};

const ignored = read('.gitignore').trim().split('\n');
const fileName = /^\.?[\w-][\w./-]*\.(ts|js|json|jsonc|md|py|yml)$/;
const slashed = /^\.?[\w-]+(\/[\w.{}*-]+)+\/?$|^\.?[\w-]+\/$/;
/** Media types, and the entries of the package for apps. */
const noPath = /^(application|text|accounts-client)\//;

/** What stands between backticks and looks like a file or a folder; routes begin with a slash. */
const pathsOf = (text: string) =>
  [...proseOf(text).matchAll(/`([^`\n]+)`/g)]
    .map(([, quoted = '']) => quoted)
    .filter((quoted) => (slashed.test(quoted) || fileName.test(quoted)) && !noPath.test(quoted))
    .filter((path) => !ignored.some((folder) => path.startsWith(folder)));

/** A path counts from the root or from the document's folder; a test may leave out the obvious. */
const isThere = (document: string, path: string) =>
  [path, join(dirname(document), path), `test/${path}.test.ts`].some(
    (candidate) => globSync(candidate).length > 0,
  );

describe.each(documents)('$path', ({ path: document, text }) => {
  it('has no link that leads nowhere', () => {
    const broken = linksOf(text).map((link) => brokenLink(document, link));
    expect(broken.filter(Boolean)).toEqual([]);
  });

  it('names no file, folder or test that is not there', () => {
    expect(pathsOf(text).filter((path) => !isThere(document, path))).toEqual([]);
  });

  it('has no comments in its shell examples, because zsh runs them as words by default', () => {
    const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines = '']) => lines);
    expect(blocks.flatMap((lines) => lines.match(/^(.* )?#.*$/gm) ?? [])).toEqual([]);
  });

  it('names no npm script that is not there', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name ?? ''))).toEqual([]);
  });
});

describe('README.md', () => {
  it('is short enough to be read: 205 lines at most', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(205);
  });

  it('says in one line each how to run the service and how to test it', () => {
    expect(read('README.md')).toContain('## Run it\n');
    expect(read('README.md')).toContain('```sh\nnpm ci && npm start\n```\n');
    expect(read('README.md')).toContain('```sh\nnpm ci && npm test\n```\n');
  });
});

describe('The version', () => {
  it('is the same in the package, its lockfile, the document and the newest heading of the changelog', () => {
    const { version } = JSON.parse(read('package.json'));
    const [, newest] = /^## (\S+) - \d{4}-\d\d-\d\d$/m.exec(read('.github/CHANGELOG.md')) ?? [];

    expect(JSON.parse(read('package-lock.json'))).toMatchObject({
      version,
      packages: { '': { version } },
    });
    expect([newest, JSON.parse(read('functions/openapi.json')).info.version]).toEqual([
      version,
      version,
    ]);
  });
});

describe('A route', () => {
  it('has a handler with a test of its own, or with a test of the setting that adds it', () => {
    const handlers = globSync('functions/**/*.ts').filter((file) =>
      /export const handler = \w+Endpoint\(/.test(read(file)),
    );
    const features = globSync('test/settings/*.settings.test.ts').map((file) =>
      basename(file, '.settings.test.ts'),
    );
    const missing = handlers.filter((file) => {
      const name = file.replace(/^functions|\.ts$/g, '');
      const tests = [`test/functions${name}.test.ts`, `test/settings${name}.settings.test.ts`];
      return !tests.some((test) => existsSync(test)) && !features.some((one) => name.includes(one));
    });
    expect(missing).toEqual([]);
    expect(handlers.length).toBeGreaterThan(10);
  });
});

describe('test/README.md', () => {
  it('has a row for every folder of tests', () => {
    const rows = read('test/README.md');
    const named = readdirSync('test', { withFileTypes: true }).filter((it) => it.isDirectory());
    expect(named.filter(({ name }) => !rows.includes(`\n| \`${name}/\` | `))).toEqual([]);
  });

  it('says for every section of functions/README.md which tests prove it', () => {
    const api = 'functions/README.md';
    const sections = [...proseOf(read(api)).matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
    const proofs = read('test/README.md');
    const entryOf = (title: string) => `\n- [${title}](../${api}#${anchorOf(title)}): \``;
    expect(sections.length).toBeGreaterThan(20);
    expect(sections.filter((title) => !proofs.includes(entryOf(title)))).toEqual([]);
  });
});

describe('a comment in the code', () => {
  /** Comments as running text: a citation may go on in the next line. */
  const flat = (text: string) => text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
  const citation = /([\w./]+\.md), ([A-Z][\w -]*?)(?=[).:;,])/g;

  it('cites sections that the documents have', () => {
    const cited = code.flatMap((file) =>
      [...flat(read(file)).matchAll(citation)].map(([, document = '', section = '']) => ({
        file,
        document,
        section,
      })),
    );
    const wrong = cited.filter(
      ({ document, section }) => !existsSync(document) || !headingsOf(document).includes(section),
    );
    expect(wrong).toEqual([]);
    expect(cited.length).toBeGreaterThan(5);
  });

  it('cites no document that is not in the repository', () => {
    const elsewhere = /[(;] ?(spec|decisions|house),? /;
    expect(code.filter((file) => elsewhere.test(flat(read(file))))).toEqual([]);
  });
});

describe('the top of the repository', () => {
  it('holds four folders, the files that tools look for there, and nothing else', () => {
    const visible = readdirSync('.').filter((name) => !/^\.|^node_modules$|\.tgz$/.test(name));
    const files = ['LICENSE', 'README.md', 'cdk.json', 'package-lock.json', 'package.json'];
    expect(visible.sort()).toEqual([...files, 'tsconfig.json', ...folders].sort());
  });
});
