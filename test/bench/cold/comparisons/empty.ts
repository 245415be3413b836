/** Nothing at all. */
export const handler = async () => ({ statusCode: 204 });
