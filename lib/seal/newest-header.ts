/**
 * The newest header, for the function that shows it: it is in an item of the users table, so that the function needs
 * neither the archive nor a list of it. The item proves only that the key has signed the header.
 * Both functions throw DomainError STORAGE_FAULT.
 */
import type { KeyObject } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { send } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import { config } from '../ground/settings.ts';
import { isSigned, readHeader, type SignedHeader } from './header.ts';

const key = itemKey('audit-seal');

export function write(line: string): Promise<unknown> {
  return send(new PutCommand({ TableName: config.usersTable, Item: { ...key, header: line } }));
}

/** @returns undefined if there is none that the key has signed */
export async function read(publicKey: KeyObject): Promise<SignedHeader | undefined> {
  const { Item } = await send(new GetCommand({ TableName: config.usersTable, Key: key }));
  const header = readHeader(Buffer.from(String(Item?.header ?? '')), publicKey);
  return isSigned(header) ? header : undefined;
}
