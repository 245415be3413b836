/** Raises an alarm, and reads it from a queue that is subscribed to the topic of alarms. */
import { crashLines } from '../../infra/stack/monitoring/metrics.ts';
import { tagOf } from '../prove/names.ts';
import type { Deployment } from './deployment.ts';
import type { Place } from './place.ts';
import { stackNameOf } from './stack.ts';

const nameAt = (place: Place): string => stackNameOf(place, 'alarms');

/**
 * Makes a topic for the setting alarmTopicArn, and a queue that receives the messages of the topic. @returns its ARN
 */
export const makeTopic = async (place: Place): Promise<string> => {
  const { call, run = '' } = place;
  const Name = nameAt(place);
  const tags = tagOf(run);
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const { TopicArn } = await call('sns', 'create_topic', { Name, Tags });
  const { QueueUrl } = await call('sqs', 'create_queue', { QueueName: Name, tags });
  const asked = { QueueUrl, AttributeNames: ['QueueArn'] };
  const { Attributes } = await call('sqs', 'get_queue_attributes', asked);
  const Statement = [
    {
      ...{
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
      },
      ...{ Resource: Attributes.QueueArn },
      Condition: { ArnEquals: { 'aws:SourceArn': TopicArn } },
    },
  ];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  await call('sqs', 'set_queue_attributes', { QueueUrl, Attributes: { Policy } });
  const Endpoint = Attributes.QueueArn;
  await call('sns', 'subscribe', { TopicArn, Protocol: 'sqs', Endpoint });
  return TopicArn;
};

/** How often the queue is read, for 20 seconds each time: an alarm is raised within some minutes. */
const maxLooks = 45;

/** Writes a log line of a crash, which the metric counts, and waits for the alarm. */
export const raiseAlarm = async ({ place, outputs, stackName }: Deployment): Promise<string> => {
  const { call } = place;
  const begun = performance.now();
  const stream = { logGroupName: outputs.FunctionLogGroupName, logStreamName: nameAt(place) };
  await call('logs', 'create_log_stream', stream);
  const message = `${crashLines[0]} no second: a line of a proof`;
  await call('logs', 'put_log_events', {
    ...stream,
    logEvents: [{ timestamp: Date.now(), message }],
  });
  const { QueueUrl } = await call('sqs', 'get_queue_url', { QueueName: nameAt(place) });
  for (let look = 0; look < maxLooks; look += 1) {
    const asked = { QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 };
    const { Messages = [] } = await call('sqs', 'receive_message', asked);
    const isRaised = ({ Body }: { readonly Body: string }) =>
      Body.includes(`${stackName}-Crashes`) && Body.includes('ALARM');
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    if (Messages.some(isRaised)) return `${stackName}-Crashes came after ${seconds} s`;
  }
  throw new Error(`The alarm ${stackName}-Crashes did not come to the queue within 15 minutes`);
};
