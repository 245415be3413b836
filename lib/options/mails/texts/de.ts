import { type Facts, type Part, removable, type Texts } from './en.ts';

const choosePassword = 'Neues Passwort wählen';
const once = 'Der Link gilt nur einmal, und nur der jeweils neueste.';
const keepSecret = 'Geben Sie den Link nicht weiter; auch unsere Mitarbeiter fragen nie danach.';
const noReset = `Waren Sie das nicht, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist, und diese Mail haben nur Sie erhalten. ${keepSecret}`;

const names: Readonly<Record<Part, string>> = {
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  secondFactor: 'zweiter Faktor',
  identities: 'Anmeldung über andere Anbieter',
  passkeys: 'Anmeldung mit Passkey',
};

export const de: Texts = {
  reset: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `Für das Konto ${facts.email} bei ${facts.site} wurde ${origin(facts)} ein neues Passwort angefordert.`,
      `Waren Sie das, öffnen Sie innerhalb von 30 Minuten diesen Link und wählen Sie ein neues Passwort. ${once}`,
      link,
      noReset,
    ],
  }),

  resetByAdmin: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `Ein Administrator von ${facts.site} hat ${at(facts)} für Ihr Konto ${facts.email} ein neues Passwort angefordert.`,
      `Öffnen Sie innerhalb von 30 Minuten diesen Link und wählen Sie es. ${once} Bis dahin bleibt Ihr Passwort, wie es ist.`,
      link,
      keepSecret,
    ],
  }),

  taken: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `Mit der Adresse ${facts.email} wollte sich jemand ${origin(facts)} bei ${facts.site} registrieren. Dort gibt es aber schon ein Konto mit dieser Adresse.`,
      `Waren Sie das, melden Sie sich einfach an. Oder öffnen Sie innerhalb von 30 Minuten diesen Link und wählen Sie ein neues Passwort; damit ist auch eine begonnene Registrierung abgeschlossen. ${once}`,
      link,
      noReset,
    ],
  }),

  invitation: (facts, link) => ({
    subject: `Ihr Konto bei ${facts.site}`,
    paragraphs: [
      `Die Betreiber von ${facts.site} haben dort für ${facts.email} ein Konto angelegt.`,
      `Um es zu benutzen, öffnen Sie innerhalb von sieben Tagen diesen Link und wählen Sie ein Passwort. ${once}`,
      link,
      `Wollen Sie das Konto nicht, müssen Sie nichts tun: Ohne diesen Link kann es niemand benutzen. ${keepSecret}`,
    ],
  }),

  verification: (facts, link) => ({
    subject: 'E-Mail-Adresse bestätigen',
    paragraphs: [
      `Für ein Konto bei ${facts.site} wurde ${origin(facts)} die Adresse ${facts.email} angegeben.`,
      `Waren Sie das, öffnen Sie innerhalb von 30 Minuten diesen Link und geben Sie das Passwort des Kontos ein. ${once}`,
      link,
      `Waren Sie das nicht, müssen Sie nichts tun: Ohne den Link kann niemand Ihre Adresse als seine ausgeben. ${keepSecret}`,
    ],
  }),

  changed: (facts, parts, byAdmin) => {
    const things = parts.map((part) => names[part]).join(' und ');
    if (byAdmin) {
      const done = parts.every((part) => removable.includes(part)) ? 'entfernt' : 'geändert';
      const said = `An Ihrem Konto ${facts.email} hat ein Administrator von ${facts.site} ${at(facts)} etwas ${done}: ${things}.`;
      const subject = `${capitalised(things)} von einem Administrator ${done}`;
      return { subject, paragraphs: byAnAdmin(said, facts) };
    }
    const advice = parts.includes('email')
      ? `Waren Sie das nicht, wenden Sie sich sofort an die Betreiber von ${facts.site}: Über diese Adresse erreichen Sie das Konto womöglich nicht mehr.`
      : `Waren Sie das nicht, fordern Sie bei ${facts.site} sofort ein neues Passwort an.`;
    return {
      subject: `${capitalised(things)} geändert`,
      paragraphs: [
        `An Ihrem Konto ${facts.email} bei ${facts.site} wurde ${origin(facts)} etwas geändert: ${things}.`,
        'Waren Sie das, müssen Sie nichts tun.',
        advice,
      ],
    };
  },

  deleted: (facts, byAdmin) => ({
    subject: 'Ihr Konto wurde gelöscht',
    paragraphs: byAdmin
      ? byAnAdmin(
          `Ein Administrator von ${facts.site} hat ${at(facts)} Ihr Konto ${facts.email} gelöscht.`,
          facts,
        )
      : [
          `Das Konto ${facts.email} bei ${facts.site} wurde ${origin(facts)} gelöscht.`,
          'Haben Sie das veranlasst, müssen Sie nichts tun.',
          `Wenn nicht, wenden Sie sich sofort an die Betreiber von ${facts.site}.`,
        ],
  }),
};

function origin(facts: Facts): string {
  return `${at(facts)} von der IP-Adresse ${facts.ip_address} aus`;
}

function at({ date, time }: Facts): string {
  return `am ${date.split('-').reverse().join('.')} um ${time} Uhr (UTC)`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The paragraphs of the notice which says that an admin has changed or deleted the account. */
function byAnAdmin(done: string, facts: Facts): readonly string[] {
  return [
    done,
    'Haben Sie darum gebeten, oder kennen Sie den Grund, müssen Sie nichts tun.',
    `Wenn nicht, wenden Sie sich an die Betreiber von ${facts.site}.`,
  ];
}
