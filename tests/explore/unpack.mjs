// Unpacks LZMA: a line of base64 in, the SHA-256 of what was packed out, or what is wrong with it.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { unlzma } from "../../web/src/engine/lzma.js";

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(createHash("sha256").update(unlzma(Uint8Array.from(Buffer.from(line, "base64")))).digest("hex"));
  } catch (error) {
    console.log(error.message);
  }
}
