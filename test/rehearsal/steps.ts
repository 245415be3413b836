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
      'Send requests far above the throttles, where some are refused, and far below, where none is',
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
    title: 'Log in 200 times and read 2,000 profiles: all are answered',
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
    title: 'Deploy the unchanged stack, synthesised anew: it has no difference',
    ...{ part: 'development', when: 'gate', run: deployUnchanged },
  },
  {
    name: 'changed',
    title: 'Deploy a changed stack and find the data intact',
    ...{ part: 'development', when: 'gate', run: deployChanged },
  },
  {
    name: 'taken',
    title: 'Take a permission from a function and see that it matters',
    ...{ part: 'development', when: 'gate', run: takePermission },
  },
  {
    name: 'check',
    title: 'Check a deployment that dies at its start, lacks a setting or a table, and a good one',
    ...{ part: 'development', when: 'gate' },
    run: (proof) => checkDeployments(developed(proof).deployment, developed(proof).assembly),
  },
  {
    name: 'mail',
    title:
      'Send a mail, reset a password by its link, and use keys of KMS for tokens and second factors',
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
      'Deploy every function, and try each operation of each one, in transactions too, and calls that must be refused',
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
    title: 'Try each operation of each function of production in the same way',
    ...{ part: 'production', when: 'long', lacking: 'the condition dynamodb:LeadingKeys' },
    isTried: true,
    run: (proof) =>
      tryPermissions(produced(proof).deployment, { stage: 'production', events: 'on' }),
  },
  {
    name: 'alarm',
    title: 'Have a line in the log raise an alarm, and read it from a queue at its topic',
    ...{ part: 'production', when: 'long', lacking: 'alarms that follow metrics of logs' },
    run: (proof) => raiseAlarm(produced(proof).deployment),
  },
  {
    name: 'lock',
    title: 'Find the lock of the archive, and that no locked object can be deleted',
    ...{ part: 'production', when: 'long', lacking: 'Object Lock as CloudFormation sets it' },
    run: proveLock,
  },
  {
    name: 'pause',
    title: 'Seal the trail, pause the seal, make another user, and resume it: the chain goes on',
    ...{ part: 'production', when: 'long', run: pauseSeal },
  },
  {
    name: 'events',
    title: 'Have the bus bring failed logins to a queue, and tampering as soon as it is done',
    ...{ part: 'production', when: 'long', run: tellEvents },
  },
  {
    name: 'restore',
    title:
      'Restore the tables, put back what was sealed later, destroy the stack, have a new one take over, find tampering',
    ...{ part: 'production', when: 'long', run: restoreAndTakeOver },
  },
  {
    name: 'update',
    title: 'Update a stack of the release before, and find its data intact',
    ...{ part: 'elsewhere', when: 'long', run: updateRelease },
  },
  {
    name: 'application',
    title: 'Deploy an application that has installed the package, and use one of its services',
    ...{ part: 'elsewhere', when: 'gate', run: rehearseApplication },
    onlyRehearsed: 'its stack has a name that another run may have',
  },
];
