import { useRef, useState } from 'preact/hooks';
import { api, Failure, send, sendForPage } from '../api.ts';
import { counted, localTime } from '../format.ts';
import {
  type Break,
  breakAtEnd,
  type Chain,
  nothingVerified,
  readKey,
  type SeenDigest,
  type Verifier,
  verifyNext,
} from '../trail/chain.ts';
import { useWalk } from '../walk.ts';
import { announce, FailureNotice, Notice } from './notice.tsx';

const digests = '/api/admin/audit-seal/digests';

const readDigests = (next: string | undefined, signal: AbortSignal) => {
  const options = { parseAs: 'text', signal } as const;
  return sendForPage(
    next
      ? api.GET(next as typeof digests, options)
      : api.GET(digests, { ...options, params: { query: { limit: 100 } } }),
  );
};

const openVerifier = async (fingerprint: string, seen?: SeenDigest): Promise<Verifier> => {
  const pem = await send(api.GET('/api/admin/audit-seal/public-key', { parseAs: 'text' }));
  const key = await readKey(pem).catch(() => {
    throw new Failure(
      'This browser cannot verify Ed25519 signatures here. Use a current one, by HTTPS or on localhost.',
    );
  });
  if (key.fingerprint === fingerprint) return { ...key, now: Date.now(), seen };
  throw new Failure('The public key is not the one whose fingerprint the service shows.');
};

/** When the oldest entry was made: the chain begins about there. 0 without one. */
const readOldest = async (): Promise<number> => {
  const query = { order: 'asc', limit: 1 } as const;
  const page = await send(api.GET('/api/admin/audit-logs', { params: { query } }));
  return typeof page === 'string' ? 0 : Date.parse(page.data[0]?.created_at ?? '') || 0;
};

/** How much of the time from the oldest entry until the newest digest was verified. */
const shareOf = ({ newest, oldest }: Chain, begin: number): number => {
  if (!newest || !oldest) return 0;
  const until = Date.parse(newest.until);
  return Math.min(1, (until - Date.parse(oldest.from)) / Math.max(1, until - begin));
};

const Outcome = ({ chain, broken }: { chain: Chain; broken: Break | undefined }) => {
  const { newest, oldest } = chain;
  if (broken) {
    return (
      <Notice kind="failure">
        <p>
          <strong>The chain is broken.</strong> {broken.file} {broken.fault}.
        </p>
        {chain.digests > 0 && (
          <p>{counted(chain.digests, 'newer digest is', 'newer digests are')} in order.</p>
        )}
      </Notice>
    );
  }
  return (
    <Notice kind="success">
      <p>
        <strong>The chain is unbroken.</strong> The key has signed each of its{' '}
        {counted(chain.digests, 'digest')}, which are of{' '}
        {counted(chain.entries, 'entry', 'entries')} until {newest && localTime(newest.until)}.
      </p>
      {oldest?.previous && (
        <p>Digests from before {localTime(oldest.from)} have left the archive, as they may.</p>
      )}
    </Notice>
  );
};

interface Progress {
  readonly chain: Chain;
  readonly broken?: Break | undefined;
}

/** Verifies the digests of a page, and after the last one whether they may end there. */
const verifyPage = async (
  begun: Chain,
  { text, isLast }: { text: string; isLast: boolean },
  verifier: Verifier,
): Promise<Progress> => {
  let chain = begun;
  for (const line of text.split('\n').filter(Boolean)) {
    const next = await verifyNext(chain, line, verifier);
    if ('fault' in next) return { chain, broken: next };
    chain = next;
  }
  return { chain, broken: isLast ? breakAtEnd(chain, verifier.seen) : undefined };
};

interface VerificationProps {
  /** Of the key that the service shows. */
  readonly fingerprint: string;
  /** The newest digest of the last verification. */
  readonly seen: SeenDigest | undefined;
  readonly onVerified: (newest: SeenDigest) => void;
}

/** A check of the chain, page by page. */
const useVerification = ({ fingerprint, seen, onVerified }: VerificationProps) => {
  const [progress, setProgress] = useState<Progress>({ chain: nothingVerified });
  // A check outlives the rendering that began it.
  const begun = useRef<{ verifier: Verifier; oldest: number; chain: Chain }>(undefined);
  const finish = ({ newest }: Chain) => {
    announce('The chain is unbroken.');
    if (newest) onVerified({ file: newest.file, sha256: newest.sha256 });
  };
  const walk = useWalk(
    async (next, signal) => {
      if (!next) {
        const verifier = await openVerifier(fingerprint, seen);
        begun.current = { verifier, oldest: await readOldest(), chain: nothingVerified };
      }
      return readDigests(next, signal);
    },
    async (text, isLast) => {
      if (!begun.current) return false;
      const { chain: before, verifier } = begun.current;
      const { chain, broken } = await verifyPage(before, { text, isLast }, verifier);
      begun.current.chain = chain;
      setProgress({ chain, broken });
      if (broken) announce('The chain is broken.');
      else if (isLast) finish(chain);
      return !broken;
    },
  );
  const again = () => {
    setProgress({ chain: nothingVerified });
    walk.reset();
    walk.start();
  };
  return {
    ...walk,
    ...progress,
    share: shareOf(progress.chain, begun.current?.oldest ?? 0),
    again,
  };
};

/** *Verify in this browser*, and what that proves. */
export const Verification = (props: VerificationProps) => {
  const { state, failure, chain, broken, share, start, stop, again } = useVerification(props);
  const isBegun = state === 'running' || state === 'stopped';
  const back = chain.oldest && `, back to ${localTime(chain.oldest.until)}`;
  return (
    <section class="card verification">
      <h2>Verify in this browser</h2>
      <p>
        Your browser reads all digests, and checks that each is signed by the key and names the one
        before it. That proves that nobody has changed, removed or inserted a digest. It does not
        look at the entries, and the key comes from this service too: whoever controls the service
        could show you another chain with another key. <code>verify-audit</code> compares the
        entries also, with a key that you keep elsewhere.
      </p>
      {isBegun && (
        <>
          <progress aria-label="Verified" value={share} />
          <p>
            {counted(chain.digests, 'digest')} verified{back}
            {state === 'stopped' && '; stopped'}.
          </p>
        </>
      )}
      {state === 'done' && <Outcome chain={chain} broken={broken} />}
      <FailureNotice what="The chain could not be read" failure={failure} />
      <div class="actions">
        {state === 'running' ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button
            type="button"
            class={state === 'done' ? undefined : 'primary'}
            onClick={state === 'stopped' ? start : again}
          >
            {{ ready: 'Verify', stopped: 'Go on', done: 'Verify again' }[state]}
          </button>
        )}
      </div>
    </section>
  );
};
