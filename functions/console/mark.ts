/** The logo, as the URL of an image. */
export function mark(): string {
  const shapes = `<rect width='16' height='16' rx='4' fill='%232a55c9'/><circle cx='8' cy='5.6' r='2.6' fill='%23fff'/><path d='M3 13.2a5 4.4 0 0 1 10 0z' fill='%23fff'/>`;
  return `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${shapes}</svg>`;
}
