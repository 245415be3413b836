/** The steps of a rehearsal and of a proof in AWS, in the order in which they are done. */
import { raiseAlarm } from './alarm.ts';
import { rehearseApplication } from './application.ts';
import { checkDeployments } from './check.ts';
import {
  acceptDeployed,
  deployChanged,
  deployDevelopment,
  deployUnchanged,
  destroyDevelopment,
  developed,
  openConsole,
  rotateSecret,
  takePermission,
} from './development.ts';
import { sendToSimulator } from './mail.ts';
import { measureLatency, putLoad, tryThrottles } from './measures.ts';
import { rehearseReset, rotateTokenKey } from './password-reset.ts';
import { tryEveryFunction, tryPermissions } from './permissions.ts';
import type { Step } from './proof.ts';
import { sealAndVerify } from './seal.ts';
import {
  deployProduction,
  pauseSeal,
  produced,
  proveLock,
  restoreAndTakeOver,
  tellEvents,
} from './undo.ts';
import { updateRelease } from './update.ts';

export const steps: readonly Step[] = [
  {
    name: 'development',
    title: 'Deploy a stack for development, and create its first admin',
    ...{ part: 'development', when: 'ground', run: deployDevelopment },
  },
  {
    name: 'acceptance',
    title: 'Run the acceptance tests against the deployed service',
    ...{ part: 'development', when: 'gate', run: acceptDeployed },
  },
  {
    name: 'console',
    title: 'Open the deployed console in a browser',
    ...{ part: 'development', when: 'gate', run: openConsole },
  },
  {
    name: 'seal',
    title: 'Seal the audit trail and verify it',
    ...{ part: 'development', when: 'gate' },
    run: (proof) => sealAndVerify(developed(proof).deployment),
  },
  {
    name: 'throttles',
    title:
      'Send requests far above the throttles and see some refused, and far below and see none refused',
    ...{ part: 'development', when: 'long', lacking: 'throttling' },
    run: (proof) => tryThrottles(developed(proof)),
  },
  {
    name: 'latency',
    title: 'Measure the latency of five routes, cold and warm',
    ...{ part: 'development', when: 'long', lacking: 'the time that Lambda takes' },
    isTried: true,
    run: (proof) => measureLatency(developed(proof)),
  },
  {
    name: 'load',
    title: 'Log in 200 times and read 2,000 profiles: every request gets a response',
    ...{ part: 'development', when: 'long', lacking: 'the time that Lambda takes' },
    isTried: true,
    run: (proof) => putLoad(developed(proof)),
  },
  {
    name: 'secret',
    title: 'Rotate the signing secret under traffic',
    ...{ part: 'development', when: 'hours', run: rotateSecret },
  },
  {
    name: 'unchanged',
    title: 'Synthesise the unchanged stack again and deploy it: nothing changes',
    ...{ part: 'development', when: 'gate', run: deployUnchanged },
  },
  {
    name: 'changed',
    title: 'Deploy a changed stack and find the data intact',
    ...{ part: 'development', when: 'gate', run: deployChanged },
  },
  {
    name: 'taken',
    title: 'Take a permission from a function, and see that the function fails without it',
    ...{ part: 'development', when: 'gate', run: takePermission },
  },
  {
    name: 'check',
    title:
      'Check a good deployment, and deployments that die at their start or lack a setting or a table',
    ...{ part: 'development', when: 'gate' },
    run: (proof) => checkDeployments(developed(proof).deployment, developed(proof).assembly),
  },
  {
    name: 'mail',
    title:
      'Send a mail, in a rehearsal reset a password by its link, and use keys of KMS for tokens and second factors',
    ...{ part: 'development', when: 'gate' },
    run: (proof) => (proof.place.name === 'AWS' ? sendToSimulator(proof) : rehearseReset(proof)),
  },
  {
    name: 'key',
    title: 'Rotate the key of tokens under traffic',
    ...{ part: 'development', when: 'hours', run: rotateTokenKey },
  },
  {
    name: 'permissions',
    title:
      'Deploy every function, try each of its operations, also in transactions, and calls that must be refused',
    ...{ part: 'development', when: 'long', lacking: 'the condition dynamodb:LeadingKeys' },
    isTried: true,
    run: tryEveryFunction,
  },
  {
    name: 'destroy',
    title: 'Destroy the stack and find nothing left',
    ...{ part: 'development', when: 'gate', run: destroyDevelopment },
  },
  {
    name: 'production',
    title: 'Deploy a stack for production, and make an admin and a user',
    ...{ part: 'production', when: 'ground', run: deployProduction },
  },
  {
    name: 'permissions-of-production',
    title: 'Try each operation of each function of production, and calls that must be refused',
    ...{ part: 'production', when: 'long', lacking: 'the condition dynamodb:LeadingKeys' },
    isTried: true,
    run: (proof) =>
      tryPermissions(produced(proof).deployment, { stage: 'production', events: 'on' }),
  },
  {
    name: 'alarm',
    title:
      'Raise an alarm by a line in the log, and read the alarm from a queue that its topic feeds',
    ...{ part: 'production', when: 'long', lacking: 'alarms that follow metrics of logs' },
    run: (proof) => raiseAlarm(produced(proof).deployment),
  },
  {
    name: 'lock',
    title: 'Find the archive locked, and see that no locked object can be deleted',
    ...{ part: 'production', when: 'long', lacking: 'Object Lock as CloudFormation sets it' },
    run: proveLock,
  },
  {
    name: 'pause',
    title:
      'Seal the trail, pause the seal, create a user, and resume the seal: the chain continues',
    ...{ part: 'production', when: 'long', run: pauseSeal },
  },
  {
    name: 'events',
    title: 'Receive failed logins in a queue of the bus, and tampering as soon as it happens',
    ...{ part: 'production', when: 'long', run: tellEvents },
  },
  {
    name: 'restore',
    title:
      'Restore tables, put back entries sealed later, destroy the stack, let a new stack take over, find tampering',
    ...{ part: 'production', when: 'long', run: restoreAndTakeOver },
  },
  {
    name: 'update',
    title: 'Update a stack of the release before, and find its data intact',
    ...{ part: 'elsewhere', when: 'long', run: updateRelease },
  },
  {
    name: 'application',
    title:
      'Deploy an application that has installed the package, use its service, and record its orders there',
    ...{ part: 'elsewhere', when: 'gate', run: rehearseApplication },
    onlyRehearsed: 'its stack has a name that another run may have',
  },
];
