import { counted, localTime } from '../format.ts';
import type { Break, Chain } from '../trail/chain.ts';
import { useVerification, type VerificationProps } from '../trail/verification.ts';
import { FailureNotice, Notice } from './notice.tsx';

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
