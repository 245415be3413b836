/** The console: which screen each place shows, and the parts of the page around all screens. */
import { type ComponentChildren, render } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { settings } from './api.ts';
import { Button } from './components/button.tsx';
import { OpenDialog } from './components/dialog.tsx';
import { FindingsBanner, FindingsDot } from './components/findings.tsx';
import { Announcer, FailureNotice } from './components/notice.tsx';
import { Brand, Screen } from './components/screen.tsx';
import { keepFocus } from './focus.ts';
import { mayLeave } from './leaving.ts';
import { failureOf, useEvery } from './loading.ts';
import { href, path, place } from './router.ts';
import { Account } from './screens/account.tsx';
import { Audit } from './screens/audit.tsx';
import { Machines, Seal, Settings } from './screens/on-demand.tsx';
import { Overview } from './screens/overview.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { User } from './screens/user.tsx';
import { Users } from './screens/users.tsx';
import { accounts, keepSession, leave, signedIn } from './session.ts';

/** The screens in the navigation, each with the screens below it. */
const screens = [
  { path: '/overview', title: 'Overview', Screen: Overview },
  { path: '/users', title: 'Users', Screen: Users },
  ...(settings.machines ? [{ path: '/machines', title: 'Machines', Screen: Machines }] : []),
  { path: '/audit', title: 'Audit', Screen: Audit },
  ...(settings.auditSeal === 'off' ? [] : [{ path: '/seal', title: 'Seal', Screen: Seal }]),
  { path: '/settings', title: 'Settings', Screen: Settings },
  { path: '/account', title: 'My account', Screen: Account },
];

const NotFound = () => (
  <Screen title="Nothing here">
    <p class="empty">
      No screen has this address. <a href={href('/users')}>Go to the users</a>.
    </p>
  </Screen>
);

const signOut = async (): Promise<void> => {
  if (!mayLeave()) return;
  const isKnown = await leave('You are signed out.');
  if (isKnown || signedIn.get().session) return;
  const notice =
    'You are signed out here, but the service could not be told: the session ends within a day.';
  signedIn.set({ isOver: false, notice });
};

/** On narrow screens a button opens the menu of the screens; Esc closes it. */
const Header = ({ email }: { readonly email: string }) => {
  const current = path.use();
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  const close = () => setOpen(false);
  useLayoutEffect(close, [place.use()]);
  const closeByKey = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return;
    close();
    menu.current?.focus();
  };
  return (
    <header class="top">
      <Button class="unseen" onClick={skip}>
        Skip to the content
      </Button>
      <nav class={`row ${isOpen ? 'open' : ''}`} aria-label="Screens" onKeyDown={closeByKey}>
        <Brand />
        <button
          type="button"
          ref={menu}
          class="menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Menu
          <FindingsDot />
        </button>
        <div class="screens">
          {screens.map((screen) => (
            <a
              key={screen.path}
              href={href(screen.path)}
              aria-current={current.startsWith(screen.path) ? 'page' : undefined}
              onClick={() => {
                close();
                // A link to the present place changes nothing but the text that is typed.
                if (location.hash === href(screen.path))
                  document.querySelector<HTMLFormElement>('search form')?.reset();
              }}
            >
              {screen.title}
              {screen.path === '/seal' && <FindingsDot />}
            </a>
          ))}
        </div>
        <div class="row">
          <span class="who">{email}</span>
          {settings.docs === 'on' && <a href="/docs">API</a>}
          <Button class="quiet" onClick={signOut}>
            Sign out
          </Button>
        </div>
      </nav>
    </header>
  );
};

/** Not a link, because the fragment of the address names the screen. */
const skip = () => document.querySelector<HTMLElement>('main h1')?.focus();

/** `/` moves the focus to the search field of a screen, unless the user is typing in a field. */
const goToSearch = (event: KeyboardEvent): void => {
  const isTyping =
    event.target instanceof Element && event.target.closest('input, select, textarea');
  const search = document.querySelector<HTMLInputElement>('input[type=search]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
};

/** A screen that cannot show a response of the service says so; users can still go to the other screens. */
const Guarded = ({ children }: { children: ComponentChildren }) => {
  const [error, retry] = useErrorBoundary();
  if (!error) return <>{children}</>;
  return (
    <Screen title="Not shown">
      <FailureNotice what="This screen has failed" failure={failureOf(error)} retry={retry} />
    </Screen>
  );
};

const Current = () => {
  const current = path.use();
  const [, id] = /^\/users\/(\d+)$/.exec(current) ?? [];
  const Found = screens.find((screen) => screen.path === current)?.Screen ?? NotFound;
  return (
    <Guarded key={current}>
      {id ? <User id={Number(id)} /> : <Found />}
      <OpenDialog />
    </Guarded>
  );
};

/** Milliseconds from one check of the token to the next. */
const pause = 15_000;

const Console = () => {
  const { session, isOver } = signedIn.use();
  useEvery(pause, keepSession, session !== undefined && !isOver);
  useEffect(() => {
    addEventListener('keydown', goToSearch);
    return () => removeEventListener('keydown', goToSearch);
  }, []);
  return (
    <>
      {/* While the session is over, the screen keeps the typed text behind the form to sign in. */}
      {session && (
        <div key={session.id} hidden={isOver}>
          <Header email={session.email} />
          <main>
            <FindingsBanner />
            <Current />
          </main>
        </div>
      )}
      {(!session || isOver) && <SignIn />}
      <Announcer />
    </>
  );
};

const root = document.getElementById('console');
if (root) {
  keepFocus(root);
  void accounts.ready.then(() => render(<Console />, root));
}
