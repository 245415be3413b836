/**
 * Whether an Accept header (RFC 9110, section 12.5.1) names a media type, by itself, with a quality
 * above 0.
 */
export const accepts = (header: string | undefined, mediaType: string): boolean => {
  if (!header?.toLowerCase().includes(mediaType)) return false;
  // A comma or a semicolon in a quoted string separates nothing.
  const unquoted = header.toLowerCase().replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return unquoted.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return type === mediaType && (quality === undefined || Number(quality.slice(2)) > 0);
  });
};
