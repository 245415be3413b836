/** The texts of the pages to which mailed links lead. A page shows one sentence of `said` at a time. */
import type { Language } from '../../lib/ground/settings.ts';

const invalid = 'This link was used, has expired, or is not the newest.';
const invalidInGerman = 'Dieser Link wurde schon benutzt, ist abgelaufen oder nicht der neueste.';

const en = {
  reset: {
    title: 'Choose a new password',
    password: 'New password',
    again: 'New password, once more',
    done: 'Your new password is set. You can log in with it now.',
    invalid: `${invalid} Unless you have set a new password, ask for another link.`,
  },
  verify: {
    title: 'Confirm your email address',
    password: 'Password of your account',
    done: 'Your email address is confirmed.',
    invalid: `${invalid} To get another one, log in, or change the address again.`,
  },
  invitation: {
    title: 'Choose a password for your account',
    password: 'Password',
    again: 'Password, once more',
    done: 'Your password is set. You can log in with it now.',
    invalid: `${invalid} Unless you have set a password, ask to be invited again.`,
  },
  submit: { reset: 'Set password', verify: 'Confirm', invitation: 'Set password' },
  noScript: 'This page needs JavaScript.',
  atLeast: (count: number) => `At least ${count} characters.`,
  goBack: (product: string) => `Go to ${product || 'the app'}`,
  goToConsole: 'Go to the console',
  said: {
    noToken: 'Open the link in your mail once more: this page only works from there.',
    differ: 'The two passwords are not the same.',
    failed: 'The service did not respond as it should, but may have done it. Try again.',
    TOO_LONG: 'At most 255 characters.',
    CURRENT_PASSWORD_WRONG: 'This is not the password of the account.',
    TOO_MANY_ATTEMPTS: 'Too many attempts. Try again in {wait} seconds.',
    EMAIL_REGISTERED: 'Another account has this address by now.',
  },
};

const de: typeof en = {
  reset: {
    title: 'Neues Passwort wählen',
    password: 'Neues Passwort',
    again: 'Neues Passwort noch einmal',
    done: 'Ihr neues Passwort gilt. Sie können sich jetzt damit anmelden.',
    invalid: `${invalidInGerman} Ist noch kein neues gesetzt, fordern Sie einen weiteren an.`,
  },
  verify: {
    title: 'E-Mail-Adresse bestätigen',
    password: 'Passwort Ihres Kontos',
    done: 'Ihre E-Mail-Adresse ist bestätigt.',
    invalid: `${invalidInGerman} Einen weiteren erhalten Sie, wenn Sie sich anmelden oder die Adresse noch einmal ändern.`,
  },
  invitation: {
    title: 'Passwort für Ihr Konto wählen',
    password: 'Passwort',
    again: 'Passwort noch einmal',
    done: 'Ihr Passwort gilt. Sie können sich jetzt damit anmelden.',
    invalid: `${invalidInGerman} Ist noch kein Passwort gesetzt, bitten Sie um eine neue Einladung.`,
  },
  submit: { reset: 'Passwort setzen', verify: 'Bestätigen', invitation: 'Passwort setzen' },
  noScript: 'Diese Seite benötigt JavaScript.',
  atLeast: (count) => `Mindestens ${count} Zeichen.`,
  goBack: (product) => `Weiter zu ${product || 'der App'}`,
  goToConsole: 'Weiter zur Konsole',
  said: {
    noToken: 'Öffnen Sie den Link in Ihrer Mail noch einmal: Nur so führt diese Seite weiter.',
    differ: 'Die beiden Passwörter stimmen nicht überein.',
    failed: 'Der Dienst hat nicht richtig geantwortet. Versuchen Sie es noch einmal.',
    TOO_LONG: 'Höchstens 255 Zeichen.',
    CURRENT_PASSWORD_WRONG: 'Das ist nicht das Passwort des Kontos.',
    TOO_MANY_ATTEMPTS: 'Zu viele Versuche. Versuchen Sie es in {wait} Sekunden noch einmal.',
    EMAIL_REGISTERED: 'Die Adresse gehört inzwischen zu einem anderen Konto.',
  },
};

export const linkTexts: Readonly<Record<Language, typeof en>> = { en, de };
