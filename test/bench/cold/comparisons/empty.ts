/** A handler that does nothing. */
export const handler = async () => ({ statusCode: 204 });
