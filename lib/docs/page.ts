/** The OpenAPI document as a page for people. */
import type { OpenApiDocument } from '../contract/document.ts';

export const pagePolicy = "default-src 'none'";

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

export const renderPage = ({ info }: OpenApiDocument): string =>
  `<!doctype html><title>${escapeHtml(info.title)}</title>`;
