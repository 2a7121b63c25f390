// A plan as the fragment of an address: its JSON, compressed, in the base64 of addresses.

async function through(bytes, stream) {
  const out = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(out).arrayBuffer());
}

/** "#plan=..." */
export async function linkOf(plan) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(plan)), new CompressionStream("deflate-raw"));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `#plan=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The text of the plan in a fragment; nothing of an empty one. Fails where it is damaged. */
export async function planOf(fragment) {
  if (fragment.length < 2) return undefined;
  const packed = fragment.match(/^#plan=([\w-]+)$/)?.[1];
  if (!packed) throw new Error("it is no link to a plan");
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
}
