/** Parts that only some services or few visits need, in one file, which on-demand.tsx loads when one is shown. */
export { Access } from '../components/access.tsx';
export { Attributes } from '../components/attributes.tsx';
export { Export } from '../components/export.tsx';
export { Help } from '../components/help.tsx';
export { Identities } from '../components/identities.tsx';
export { Many } from '../components/many.tsx';
export { Passkeys } from '../components/passkeys.tsx';
export { SealedEntry, SealOfEntry } from '../components/seal-of-entry.tsx';
export { OwnFactor } from '../components/second-factor.tsx';
export { Sessions } from '../components/sessions.tsx';
export { Standings } from '../components/standings.tsx';
export { WeakAdmins } from '../components/weak-admins.tsx';
export { Machines } from './machines.tsx';
export { Seal } from './seal.tsx';
export { Settings } from './settings.tsx';
