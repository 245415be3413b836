/** Screens, and parts of screens, whose code is loaded when one of them is first shown. */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { settings } from '../api.ts';
import { Loaded } from '../components/notice.tsx';
import { useLoad } from '../loading.ts';

type Parts = typeof import('./optional.ts');

let parts: Parts | undefined;

const load = async (): Promise<Parts> => {
  parts = await import('./optional.ts');
  return parts;
};

/** A newer console has other scripts, and a browser may remember that it could not load a script. */
const reload = async (): Promise<void> => location.reload();

/** @param what the subject of messages, such as `The sessions` */
const onDemand = <Props extends object>(
  what: string,
  from: (parts: Parts) => ComponentType<Props>,
): ComponentType<Props> => {
  const First = (props: Props) => (
    <Loaded what={what} from={{ ...useLoad(what, load), reload }}>
      {(loaded) => {
        const Part = from(loaded);
        return <Part {...props} />;
      }}
    </Loaded>
  );
  return (props) => {
    // A part that is shown already keeps its fields when its code has arrived.
    const [Part] = useState(() => (parts ? from(parts) : First));
    return <Part {...props} />;
  };
};

const none = () => null;

export const Seal = onDemand('The seal', (all) => all.Seal);
export const SealOfEntry = onDemand('The seal', (all) => all.SealOfEntry);
export const SealedEntry = onDemand('The seal', (all) => all.SealedEntry);
export const Export = onDemand('The export', (all) => all.Export);
export const Machines = onDemand('The machines', (all) => all.Machines);
export const Settings = onDemand('The settings', (all) => all.Settings);
export const Access = onDemand('The access', (all) => all.Access);
export const OwnFactor = onDemand('The second factor', (all) => all.OwnFactor);
export const WeakAdmins =
  settings.secondFactor !== 'off' || settings.passkeys
    ? onDemand('The admins', (all) => all.WeakAdmins)
    : none;
export const Attributes = settings.attributes
  ? onDemand('The attributes', (all) => all.Attributes)
  : none;
export const Sessions = settings.sessions ? onDemand('The sessions', (all) => all.Sessions) : none;
export const Passkeys = settings.passkeys ? onDemand('The passkeys', (all) => all.Passkeys) : none;
export const Identities = settings.identities
  ? onDemand('The identities', (all) => all.Identities)
  : none;
export const Many = onDemand('The action', (all) => all.Many);
export const Standings = onDemand('The roles', (all) => all.Standings);
export const Help = onDemand('The help', (all) => all.Help);
