import * as z from "zod";
import type { ImageType } from "../../core/file-type.ts";
import { formatBytes } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { ToolImage, ToolOutput } from "../tool.ts";

/** Of a result's text; the dispatcher cuts it for its readers once more. */
const MAX_TEXT = 1024 * 1024;

const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  data: z.string().optional(),
  mimeType: z.string().optional(),
  uri: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  resource: z
    .object({
      uri: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
      mimeType: z.string().optional(),
    })
    .optional(),
});
type Block = z.infer<typeof block>;

/** What a server answers to a call. @throws z.ZodError */
const result = z.object({
  content: z.array(block).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});

const IMAGES: ReadonlySet<string> = new Set<ImageType>([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

function isImage(type: string | undefined): type is ImageType {
  return type !== undefined && IMAGES.has(type);
}

/** The result as our own tools have theirs. @throws z.ZodError when it is none */
export async function outputOf(answer: unknown, encoder: Encoder): Promise<ToolOutput> {
  const { content, structuredContent, isError = false } = result.parse(answer);
  const images = content.flatMap(imageOf);
  const texts = content.flatMap(textOf);
  const structured =
    structuredContent === undefined ? [] : [JSON.stringify(structuredContent, null, 1)];
  // Servers repeat it as text for older clients.
  const isRepeated =
    structuredContent !== undefined && texts.some((text) => isSame(text, structuredContent));
  const text = (isRepeated ? texts : [...texts, ...structured]).join("\n");
  return {
    text:
      text.length > MAX_TEXT ? await cut(text, encoder) : text || "(the server answered nothing)",
    ...(images.length > 0 && { images }),
    ...(isError && { failed: true }),
  };
}

/** Half a secret at the cut would not be found any more. */
async function cut(text: string, encoder: Encoder): Promise<string> {
  const head = await encoder.aside.encodeCut(text.slice(0, MAX_TEXT), {
    before: false,
    behind: true,
  });
  return `${head}\n[… cut: the whole has ${formatBytes(Buffer.byteLength(text))} …]`;
}

/** Also where the one field of the structure is what the text says. */
function isSame(text: string, structured: Readonly<Record<string, unknown>>): boolean {
  const [only, another] = Object.values(structured);
  const forms = another === undefined ? [structured, only] : [structured];
  if (forms.includes(text)) return true;
  try {
    const told = JSON.stringify(JSON.parse(text));
    return forms.some((form) => JSON.stringify(form) === told);
  } catch {
    return false;
  }
}

function imageOf({ type, data = "", mimeType, resource }: Block): ToolImage[] {
  const [mediaType, base64] =
    type === "image" ? [mimeType, data] : [resource?.mimeType, resource?.blob];
  if (!isImage(mediaType) || base64 === undefined) return [];
  const name = resource?.uri ?? `image.${mediaType.replace("image/", "")}`;
  return [{ name, mediaType, bytes: Buffer.from(base64, "base64") }];
}

function textOf(each: Block): string[] {
  const { type, text, uri, name, description, mimeType, resource } = each;
  if (imageOf(each).length > 0) return [];
  if (type === "text") return text === undefined || text === "" ? [] : [text];
  if (type === "resource_link") return [[name, uri, description].filter(Boolean).join(" · ")];
  if (type === "resource" && resource?.text !== undefined)
    return [`${resource.uri ?? "resource"}:\n${resource.text}`];
  const kind = mimeType ?? resource?.mimeType ?? type;
  return [`[${kind} left out: only text and images are shown]`];
}
