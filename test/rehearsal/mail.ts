/** Sends a mail by SES in AWS, to the mailbox simulator of SES. */
import { until } from '../support/until.ts';
import { developed } from './development.ts';
import { mailingSettings, useMailing } from './password-reset.ts';
import { simulator } from './probe-others.ts';
import { NotProved, type Proof } from './proof.ts';
import { deploy, synthesise } from './stack.ts';
import { requireThat } from './step.ts';

/** @throws {NotProved} if no identity is verified */
export const sendToSimulator = async (proof: Proof): Promise<string> => {
  const made = developed(proof);
  const { deployment } = made;
  const { call } = proof.place;
  const mailFrom = await findSender(proof);
  const token = made.user.token;
  made.assembly = await synthesise(proof.place, 'mailing', { ...mailingSettings, mailFrom });
  const { outputs } = await deploy(made.assembly, proof.place);
  const sent = async () => (await call('sesv2', 'get_account')).SendQuota.SentLast24Hours;
  const before = await sent();
  await useMailing(deployment, { token, email: simulator });
  await until(async () => (await sent()) > before, 'SES has counted no mail');
  const asked = {
    QueueUrl: outputs.UnsentMailsQueueUrl,
    AttributeNames: ['ApproximateNumberOfMessages'],
  };
  const { Attributes } = await call('sqs', 'get_queue_attributes', asked);
  requireThat(Attributes.ApproximateNumberOfMessages === '0', 'A mail was not sent');
  return 'SES took a mail to its simulator';
};

/** An address of a verified identity. */
const findSender = async ({ place }: Proof): Promise<string> => {
  const { EmailIdentities: all } = await place.call('sesv2', 'list_email_identities');
  const found = all.find(
    (each: Readonly<Record<string, unknown>>) =>
      each.SendingEnabled && each.VerificationStatus === 'SUCCESS',
  );
  if (!found) throw new NotProved(`no identity is verified in Amazon SES in ${place.region}`);
  const { IdentityName: name } = found;
  return name.includes('@') ? name : `accounts-proof@${name}`;
};
