/** The console in a browser whose clock is hours wrong. */
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { button } from './page.ts';

const service = await serviceForThisFile();
const withSessions = await serviceForThisFile({ SESSION_DAYS: '90', TOKEN_MINUTES: '5' });
const browser = await browserForThisFile();

/** Milliseconds of an hour. */
const hour = 3_600_000;

/** Opens the console as the admin, at a place, in a browser whose clock is some hours ahead. */
const open = async (hours: number, place: string, of = service) => {
  const { page } = await openConsole(browser, of, place, { clock: Date.now() + hours * hour });
  return page;
};

const name = (hours: number) => (hours < 0 ? `${-hours} hours behind` : `${hours} hours ahead`);

describe.each([-5, 5].map((hours) => [name(hours), hours] as const))(
  'Where the clock of the browser is %s, the console',
  (_, hours) => {
    it('shows the last hour by the clock of the service, also after it was loaded again', async () => {
      const user = await register(service.api);
      await logIn(service.api, user);
      const page = await open(hours, `#/audit?about=${user.id}`);
      const since = async () => {
        await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
        await page.waitForURL(/since=/);
        const query = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
        return Math.round((Date.now() - Date.parse(query.get('since') ?? '')) / hour);
      };

      const first = await since();
      await expect.poll(() => page.locator('main tbody tr').count()).toBe(2);
      await page.goto(`${service.url}/console#/audit`);
      await page.reload();

      expect([first, await since()]).toEqual([1, 1]);
    });

    it('shows the time of an entry as the service wrote it', async () => {
      const user = await register(service.api);
      const { body } = await service.api('GET', `/api/admin/audit-logs?about=${user.id}`, {
        token: service.adminToken,
      });
      const page = await open(hours, `#/audit?about=${user.id}`);

      const time = page.locator('main tbody time');
      expect(await time.getAttribute('datetime')).toBe(body.data[0].created_at);
      const parts = `{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' }`;
      const shown = `new Intl.DateTimeFormat(undefined, ${parts})
        .format(Date.parse('${body.data[0].created_at}'))`;
      expect(await time.innerText()).toBe(await page.evaluate(shown));
    });

    it('says how long to wait, and tries again after that time, even if the clock is corrected meanwhile', async () => {
      const page = await open(hours, '#/account');
      await page.route('**/api/users?*', (route) =>
        route.fulfill({ status: 429, headers: { 'Retry-After': '45' }, json: {} }),
      );
      // The clock continues meanwhile, and cannot be stopped at a past time.
      await page.clock.pauseAt(((await page.evaluate('Date.now()')) as number) + hour);
      await page.getByRole('link', { name: 'Users' }).click();
      const wait = page.getByText('You can try again in');
      // The page draws only when its clock moves, and its clock is stopped.
      await expect
        .poll(async () => {
          await page.clock.runFor(20);
          return wait.count();
        })
        .toBe(1);

      const first = await wait.innerText();
      await page.clock.setSystemTime(Date.now());
      await page.clock.runFor(40_500);
      const later = await wait.innerText();
      await page.clock.runFor(6000);
      await page.unroute('**/api/users?*');
      await button(page, 'Try again').click();
      await page.locator('main tbody tr').first().waitFor();

      expect([first, later]).toEqual(['You can try again in 45 s.', 'You can try again in 5 s.']);
    });

    it('exchanges a token before it expires, also after it was loaded again', async () => {
      const page = await open(hours, '#/account', withSessions);
      await page.reload();
      await page.getByLabel('Name', { exact: true }).waitFor();
      const refreshes: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/api/refresh')) refreshes.push(request.url());
      });

      await page.clock.fastForward('04:30');
      await page.getByRole('link', { name: 'Users' }).click();
      await page.locator('main tbody tr').first().waitFor();

      expect(refreshes).toHaveLength(1);
      expect(await page.getByText('Your session is over').count()).toBe(0);
    });
  },
);

it('A session of a day lasts in a browser whose clock is 30 hours ahead, also after it was loaded again', async () => {
  const page = await open(30, '#/users');
  await page.reload();

  await page.locator('main tbody tr').first().waitFor();
  expect(await page.getByRole('navigation').count()).toBe(1);
});
