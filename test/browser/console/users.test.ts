import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { type Account, logIn, register, uniqueEmail } from '../../support/client.ts';
import { promote } from '../../support/examples.ts';
import { browserForThisFile } from '../browser.ts';
import { fillNewUser, openConsole, signIn } from '../console.ts';
import { button, drawn, openPage, title, violationsIn } from '../page.ts';

const service = await serviceForThisFile();
const { api, url, admin, adminToken: token } = service;
const browser = await browserForThisFile();

const open = (place: string) => openConsole(browser, service, place);

const userOf = async (id: number) => (await api('GET', `/api/users/${id}`, { token })).body;

const script = '<img src=x onerror=alert(1)>';
const ada = { name: 'Ada', password: 'a long password' };

/** Users as a list shows them. @param first the id of the first user */
const hundredUsers = (first: number) =>
  Array.from({ length: 100 }, (_, index) => ({
    id: first + index,
    name: 'Ada',
    email: 'ada@example.org',
    role: 'user',
    created_at: '2026-11-22',
  }));

describe('The form to sign in', () => {
  it('says how long to wait after too many failures, and keeps what was typed', async () => {
    const user = await register(api);
    const { page } = await openPage(browser, `${url}/console`);
    const wait = page.getByText('You can try again in');

    for (let tries = 0; tries < 20 && !(await wait.isVisible()); tries += 1) {
      const refused = page.waitForResponse('**/api/login');
      await signIn(page, { ...user, password: 'wrong' });
      await refused;
      await page.locator('[type=submit][aria-busy=false]').waitFor();
    }

    expect(await wait.innerText()).toMatch(/ in (\d+ s|\d+:\d\d min)\.$/);
    expect(await button(page, 'Sign in').getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByLabel('Password').inputValue()).toBe('wrong');
    expect(await violationsIn(page)).toEqual([]);
  });

  it('returns when the session is over, and then continues where the user was, with what was typed', async () => {
    const { page } = await open('#/users');
    await button(page, 'Create a user').click();
    await page.getByLabel('Name', { exact: true }).fill('Half a name');

    await page.route('**/api/users', (route) =>
      route.fulfill({
        status: 401,
        headers: { 'Error-Code': 'TOKEN_EXPIRED' },
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'TOKEN_EXPIRED', title: 'Token has expired' }),
      }),
    );
    await page.getByLabel('Email address').fill('a@example.org');
    await page.getByLabel('Password').fill('a long password');
    await page.keyboard.press('Enter');
    await title(page, 'Sign in').waitFor();
    const form = page.getByRole('textbox');
    expect(await form.first().inputValue()).toBe(admin.email);
    await page.unroute('**/api/users');
    await page.keyboard.type(admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();

    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a name');
  });
});

describe('The screen of all users', () => {
  it('creates an admin by keyboard alone, finds the admin, and returns the focus', async () => {
    const email = uniqueEmail();
    const { page, complaints } = await open('#/users');
    await button(page, 'Create a user').focus();

    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Create a user');
    await page.keyboard.press('Enter');
    await page.keyboard.type(script);
    await page.keyboard.press('Tab');
    await page.keyboard.type(email);
    await page.getByLabel('Password').fill('a long password');
    await page.getByLabel('Role').selectOption('admin');
    await page.getByLabel('Password').press('Enter');
    await title(page, script).waitFor();
    await page.goBack();
    await title(page, 'Users').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(email.toUpperCase());
    await page.getByText('1 user shown.').waitFor();

    const row = await page.locator('tbody tr').innerText();
    expect(row).toContain(script);
    expect(row).toContain('Admin');
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('shows the newest users first or only admins on request, and one user by the id', async () => {
    const { id } = await register(api, { name: 'The newest' });
    const { page } = await open('#/users?order=desc');

    await expect.poll(() => page.locator('tbody tr').first().innerText()).toContain('The newest');
    await page.getByLabel('Order').selectOption('Oldest first');
    await expect.poll(() => page.locator('tbody tr').first().innerText()).toContain(admin.email);
    await page.getByLabel('Show').selectOption('Admins');
    await expect.poll(() => page.locator('tbody').innerText()).not.toContain('The newest');
    await page.getByLabel('Find users').fill(String(id));
    await page.getByText('1 user shown.').waitFor();

    expect(new URL(page.url()).hash).toBe(`#/users?role=admin&q=${id}`);
  });

  it('empties its filters when its link to all users is used', async () => {
    const { page } = await open('#/users');
    for (const role of ['Admins', 'All users', 'Admins']) {
      await page.getByLabel('Show').selectOption(role);
    }
    await page.getByLabel('Find users').fill('nobody at all');

    await page.getByRole('link', { name: 'Show all users' }).click();
    await page.locator('tbody tr').first().waitFor();

    const values = page.getByRole('search').locator('input, select');
    expect(
      await values.evaluateAll((all) => all.map((each) => Reflect.get(each, 'value'))),
    ).toEqual(['', '', '']);
  });

  it('keeps combining marks of a name in their row, and offers to select one user', async () => {
    const { id } = await register(api, { name: 'Zed' });
    const { page } = await open(`#/users?q=${id}`);
    await button(page, 'Select the one shown').waitFor();
    const { y = 0 } = (await page.locator('tbody tr').boundingBox()) ?? {};
    const clip = { x: 0, y: 0, width: 1280, height: Math.floor(y) };

    const before = await page.screenshot({ clip });
    // A shadow is drawn outside of its line, as combining marks are, but it is in every font.
    await page.locator('tbody .person bdi').evaluate((name) => {
      name.style.textShadow = '0 -30px red';
    });

    expect(before.equals(await page.screenshot({ clip }))).toBe(true);
  });

  it('says why nobody can select oneself, and how many of the users shown can be selected', async () => {
    const { id } = await register(api);
    const found = await Promise.all(
      [1, id].map((each) => api('GET', `/api/users/${each}`, { token })),
    );
    const json = found.map(({ body }) => body);
    const { page } = await open('#/account');
    await page.route('**/api/users?*', (route) => route.fulfill({ json }));
    await page.evaluate("location.hash = '#/users'");
    const own = page.getByRole('checkbox', { name: 'You cannot select yourself' });
    await button(page, 'Select 1 of 2').click();
    await page.getByText('1 user selected').waitFor();

    expect(await own.isDisabled()).toBe(true);
    expect(await own.getAttribute('title')).toBe('You cannot select yourself');
  });

  it('is scrolled to the same place after one of its users is deleted', async () => {
    const users: Account[] = [];
    for (let made = 0; made < 30; made += 1) users.push(await register(api));
    const { page } = await open('#/users?order=desc');
    // Pages of ten users.
    await page.route('**/api/users?limit=100*', (route) =>
      route.continue({ url: route.request().url().replace('limit=100', 'limit=10') }),
    );
    await page.reload();
    const rows = page.locator('tbody tr');
    const top = () => page.evaluate('scrollY');
    const target = users[5] as Account;
    await expect
      .poll(async () => {
        const found = await rows.filter({ hasText: target.email }).count();
        // When the button comes into view, it also presses itself, and with the last page it disappears.
        const more = button(page, 'Show more users');
        if (found === 0) await more.click({ timeout: 5000 }).catch(() => undefined);
        return found;
      })
      .toBe(1);
    const link = rows.filter({ hasText: target.email }).getByRole('link');
    await link.scrollIntoViewIfNeeded();
    const [before, count] = [await top(), await rows.count()];

    await link.click();
    await button(page, 'Delete').click();
    await page.getByLabel(`Type ${target.email}`).fill(target.email);
    await page.keyboard.press('Enter');
    await title(page, 'Users').waitFor();

    await expect.poll(top).toBe(before);
    expect(new URL(page.url()).hash).toBe('#/users?order=desc');
    expect(await rows.count()).toBeGreaterThanOrEqual(count - 1);
    expect(await rows.filter({ hasText: target.email }).count()).toBe(0);
  });

  it('finds users by a part of the name while one types, and says how far it has read', async () => {
    for (const name of ['Jürgen Groß', 'Anna GROSSMANN']) await register(api, { name });
    const { page } = await open('#/users');
    const rows = page.locator('tbody tr');
    // Pages of one user each, after an empty first page.
    await page.route('**/api/users?*search=*', (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.has('cursor')) return route.continue();
      const link = `<${url.pathname}${url.search}&cursor=>; rel="next"`;
      return route.fulfill({ json: [], headers: { Link: link } });
    });
    await page.route('**/api/users?*cursor=', (route) =>
      route.continue({ url: route.request().url().replace('&cursor=', '').replace('100', '1') }),
    );

    await page.getByLabel('Find users').pressSequentially('gross', { delay: 20 });
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByText('2 users shown.').waitFor();
    await page.getByLabel('Find users').fill('nobody at all');
    await page.getByText('nobody at all in the name or the address').waitFor();
    await page.getByRole('link', { name: 'Show all users' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(2);

    expect(await page.getByLabel('Find users').inputValue()).toBe('');
  });

  it('shows 100 users of a search at most, and says so', async () => {
    const { page } = await open('#/users');
    const json = hundredUsers(1000);
    const headers = { Link: '</api/users?search=ada&cursor=x>; rel="next"' };
    await page.route('**/api/users?*search=*', (route) => route.fulfill({ json, headers }));

    await page.getByLabel('Find users').fill('ada');
    await page.getByText('100 users are shown at most').waitFor();
    await page.getByRole('button', { name: /^Select (all|the first) \d+ shown$/ }).click();
    await page.getByText('100 users selected').waitFor();

    expect(await button(page, 'Show more users').count()).toBe(0);
  });

  it('loads the next page also when the browser reports two events of its end at once', async () => {
    const { page } = await open('#/users');
    // A busy browser does so: it reports that the end is out of view when the end is in view already.
    await page.addInitScript(`window.IntersectionObserver = class extends IntersectionObserver {
      constructor(tell) {
        const untold = [];
        super((entries) => untold.push(...entries) > 1 && tell(untold.splice(0)));
      }
    }`);
    await page.route('**/api/users?limit=*', (route) => {
      const isLast = route.request().url().includes('cursor=');
      const headers = isLast ? {} : { Link: '</api/users?limit=100&cursor=x>; rel="next"' };
      return route.fulfill({ json: hundredUsers(isLast ? 1100 : 1000), headers });
    });

    await page.reload();
    await page.getByText('100 users shown.').waitFor();
    await page.evaluate(drawn);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');

    await page.getByText('200 users shown.').waitFor();
  });

  it('deletes a selection user by user, says what failed and why, and stays where it was', async () => {
    const name = `Spam ${Date.now()}`;
    const users: Account[] = [];
    for (let made = 0; made < 4; made += 1) users.push(await register(api, { name }));
    const { page } = await open('#/users');
    await page.getByLabel('Find users').fill(name);
    await page.getByText('4 users shown.').waitFor();
    await page.route(`**/api/users/${users[1]?.id}`, (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    );

    await page.getByRole('button', { name: /^Select (all|the first) \d+ shown$/ }).click();
    await page.getByRole('checkbox').first().uncheck();
    await page.getByText('3 users selected').waitFor();
    await button(page, 'Delete').click();
    await button(page, 'Delete 3 users').click();
    await page.getByText('Type 3 to confirm.').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Type 3 to confirm').fill('3');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 3 users deleted.').waitFor();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      `${name} #${users[1]?.id} (${users[1]?.email}): No response came from the service. It may have been done all the same.`,
    ]);
    expect(await violationsIn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    const left = await page.locator('tbody tr').allInnerTexts();
    expect(left.map((row) => users.findIndex(({ email }) => row.includes(email)))).toEqual([0, 1]);
    await page.getByText('1 user selected').waitFor();
    expect((await api('GET', `/api/users?search=${name}`, { token })).body).toHaveLength(2);
  });

  it('selects all users from the one before by a click with Shift, and names them before they are deleted', async () => {
    const name = `Range ${Date.now()}`;
    const users: Account[] = [];
    for (let made = 0; made < 4; made += 1) users.push(await register(api, { name }));
    const { page } = await open(`#/users?q=${encodeURIComponent(name)}`);
    const box = (index: number) =>
      page.getByRole('checkbox', { name: `Select #${users[index]?.id}`, exact: true });

    await box(0).click();
    await box(2).click({ modifiers: ['Shift'] });
    await page.getByText('3 users selected').waitFor();
    await button(page, 'Delete').click();
    const listed = page.getByRole('dialog').getByRole('listitem');
    const chosen = users.slice(0, 3).map(({ id, email }) => `${name} #${id} (${email})`);
    await expect.poll(() => listed.allInnerTexts()).toEqual(chosen);
    await page.keyboard.press('Escape');
    await box(1).click({ modifiers: ['Shift'] });

    await page.getByText('1 user selected').waitFor();
    expect(await box(0).isChecked()).toBe(true);
  });

  it('stops a bulk deletion on request, after the user who is being deleted', async () => {
    const name = `Stopped ${Date.now()}`;
    for (let made = 0; made < 3; made += 1) await register(api, { name });
    const { page } = await open(`#/users?q=${encodeURIComponent(name)}`);
    await page.getByRole('button', { name: /^Select (all|the first) \d+ shown$/ }).click();
    await button(page, 'Delete').click();
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/api/users/*', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Type 3 to confirm').fill('3');
    await page.keyboard.press('Enter');

    await button(page, 'Stop').click();
    goOn();
    await page.getByText('1 of 3 users deleted. The others were left as they are.').waitFor();
    expect((await api('GET', `/api/users?search=${name}`, { token })).body).toHaveLength(2);
    await page.keyboard.press('Escape');
    await button(page, 'Delete').click();
    await page.getByLabel('Type 2 to confirm').fill('2');
    await page.keyboard.press('Enter');

    await page.getByText('2 of 2 users deleted.').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
  });

  it('says at a field what is wrong with its value, and keeps the other values', async () => {
    const taken = await register(api);
    const { page } = await open('#/users');

    await fillNewUser(page, { ...ada, email: taken.email });
    await button(page, 'Create the user').click();
    await page.getByText('The user was not created.').waitFor();

    expect(await page.evaluate('document.activeElement.name')).toBe('email');
    expect(await page.getByLabel('Password').inputValue()).toBe('a long password');
    expect(await violationsIn(page)).toEqual([]);
    await page.route('**/api/users', (route) => route.abort());
    await button(page, 'Create the user').click();
    await page.getByText('It may have been done all the same.').waitFor();
  });
});

it.each([
  ['Email address', 'no address', 'email'],
  ['Password', 'x'.repeat(256), 'password'],
])(
  'The field %s gets the focus when its value is refused, whatever kind of field it is',
  async (label, value, name) => {
    const { page } = await open('#/users');
    await fillNewUser(page, { ...ada, email: uniqueEmail() });
    await page.getByLabel(label).fill(value);
    await page.evaluate("document.querySelector('dialog form').noValidate = true");
    await button(page, 'Create the user').click();

    await page.locator(`[name=${name}][aria-invalid]`).waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe(name);
  },
);

describe('The screen of a user', () => {
  it('changes name, address, role and password, and says what the role entails', async () => {
    const user = await register(api, { name: script });
    const email = uniqueEmail();
    const { page, complaints } = await open(`#/users/${user.id}`);
    await title(page, script).waitFor();

    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    await page.getByLabel('Email address').fill(email);
    await button(page, 'Save the changes').click();
    await title(page, 'Ada King').waitFor();
    await button(page, 'Set a password').click();
    await page.getByLabel('New password').fill('another password');
    await button(page, 'Set the password').click();
    await page.getByText(`Ada King #${user.id} has a new password.`).waitFor();
    await button(page, 'Make an admin').click();
    await page.getByText('will be allowed to change and delete all users').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Make an admin' }).click();
    await button(page, 'Take the role away').waitFor();

    expect(await userOf(user.id)).toMatchObject({ name: 'Ada King', email, role: 'admin' });
    await logIn(api, { email, password: 'another password' });
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('deletes a user once the address is typed, and then shows the entries that remain of the user', async () => {
    const user = await register(api);
    const { page } = await open(`#/users/${user.id}`);

    await button(page, 'Delete').click();
    await button(page, 'Delete for good').click();
    await page.getByText(`Type ${user.email} to delete the user.`).waitFor();
    await page.getByLabel(`Type ${user.email}`).fill(user.email);
    await page.keyboard.press('Enter');
    await title(page, 'Users').waitFor();
    await page.goBack();
    await page.getByText('This user was deleted. The trail below says what happened.').waitFor();
    await title(page, `#${user.id} Deleted`).waitFor();
    expect(await page.locator('tbody').first().innerText()).toContain('DELETE');

    expect((await api('GET', `/api/users/${user.id}`, { token })).status).toBe(404);
    expect(await violationsIn(page)).toEqual([]);
  });
});

describe('The page of a user', () => {
  it('begins with what happened, beside the access in a wide window, and above it on a phone', async () => {
    const { id } = await register(api);
    const { page } = await open(`#/users/${id}`);
    const headings = page.getByRole('heading', { level: 2 });
    const boxOf = async (name: string) =>
      (await page.getByRole('region', { name, exact: true }).boundingBox()) ?? {
        x: 0,
        y: 0,
        height: 0,
      };
    await page.getByRole('heading', { name: 'Role over time' }).waitFor();
    await page.getByRole('heading', { name: 'How to help' }).waitFor();

    expect((await headings.allInnerTexts()).slice(0, 5)).toEqual([
      'What happened',
      'Access',
      'Role over time',
      'Profile',
      'How to help',
    ]);
    const [entries, access] = [await boxOf('What happened'), await boxOf('Access')];
    expect([access.y, access.height]).toEqual([entries.y, entries.height]);
    expect(access.x).toBeGreaterThan(entries.x);
    await page.setViewportSize({ width: 390, height: 844 });
    const [above, below] = [await boxOf('What happened'), await boxOf('Access')];
    expect(below.x).toBe(above.x);
    expect(below.y).toBeGreaterThan(above.y);
  });
});

describe('A user who is not there', () => {
  it('is called unknown if nobody ever had the id, on the user’s screen and as a filter', async () => {
    const never = 8_000_000;
    const { page } = await open(`#/users/${never}`);

    await title(page, `#${never} Unknown`).waitFor();
    await page.getByText(`No user has the id ${never}, and the trail knows of none.`).waitFor();
    await page.evaluate(`location.hash = '#/audit?resourceId=${never}'`);
    await page.getByRole('button', { name: `Remove filter To whom #${never} Unknown` }).waitFor();

    expect(await page.getByText('Deleted').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('is called deleted if the trail knows the user, even if no listed entry does', async () => {
    const { id } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token });
    const { page } = await open(`#/audit?resourceId=${id}&result=FAILURE`);

    await page.getByRole('button', { name: `Remove filter To whom #${id} Deleted` }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
  });
});

describe('A form with an address', () => {
  it('sends each address that the service allows as it was typed, to sign in and for a new user', async () => {
    const admin = await promote(
      api,
      token,
      await register(api, { email: `jörg-${uniqueEmail()}` }),
    );
    const email = `ada-${Date.now()}@bücher.example`;
    const { page } = await openConsole(browser, { url, admin }, '#/users');

    await fillNewUser(page, { ...ada, email: ` ${email} ` });
    await button(page, 'Create the user').click();
    await title(page, 'Ada').waitFor();

    expect((await api('GET', `/api/users?search=${email}`, { token })).body).toMatchObject([
      { email },
    ]);
  });

  it('renames a user whose address it would refuse, and refuses such a new address at the field', async () => {
    const user = await register(api, { email: `jörg-${uniqueEmail()}` });
    const { page } = await open(`#/users/${user.id}`);
    // This address is like an address that was imported before there was a rule for addresses.
    const email = 'ada@lovelace@example.org';
    await page.route(`**/api/users/${user.id}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), email } });
    });
    await page.reload();
    const address = page.getByLabel('Email address');

    expect(await address.inputValue()).toBe(email);
    await page.getByLabel('Name', { exact: true }).fill('Jörg');
    await button(page, 'Save the changes').click();
    await page.getByText('The changes are saved.').waitFor();
    await address.fill('jörg@@example.org');
    await button(page, 'Save the changes').click();

    const { length } = await page.locator('[name=email]:invalid').all();
    expect(length).toBe(1);
    expect(await userOf(user.id)).toMatchObject({ name: 'Jörg', email: user.email });
  });
});

describe('The screen of one’s own account', () => {
  it('sets one’s own password', async () => {
    const own = await promote(api, token, await register(api));
    const { page, complaints } = await openConsole(browser, { url, admin: own }, '#/account');
    await page.getByLabel('New password').fill('another password');
    await button(page, 'Show').click();
    expect(await page.getByLabel('New password').getAttribute('type')).toBe('text');

    await button(page, 'Set the password').click();
    await page.getByText('has a new password.').waitFor();

    await logIn(api, { ...own, password: 'another password' });
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
