import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { engineClient, type Item } from './stored-items.ts';

/** How many items one request may hold, and how many requests are under way at once. */
const batchSize = 25;
const connections = 4;

/** Writes items directly, without the service, as fast as the engine accepts them. */
export const writeBatches = async (
  endpoint: string,
  table: string,
  items: readonly Item[],
): Promise<void> => {
  const client = engineClient(endpoint);
  let written = 0;
  const work = async () => {
    while (written < items.length) {
      const batch = items.slice(written, written + batchSize);
      written += batchSize;
      const puts = batch.map((Item) => ({ PutRequest: { Item } }));
      const answer = await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
      if (answer.UnprocessedItems?.[table]) throw new Error('The engine left items out');
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  client.destroy();
};
