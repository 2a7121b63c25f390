// The colours that are right now: light, dark or on paper.
import { dark, light, places } from "./palette.js";

const kOther = 7;

const kStripe = 7; // of a hatching, in pixels

/** What is drawn of time in which nothing is computed: stripes of a colour on the paper. */
function hatched(colour, paper) {
  const image = document.createElement("canvas");
  image.width = image.height = kStripe;
  const pen = image.getContext("2d");
  pen.fillStyle = paper;
  pen.fillRect(0, 0, kStripe, kStripe);
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  for (const shift of [-kStripe, 0, kStripe]) {
    pen.moveTo(shift - 1, kStripe + 1);
    pen.lineTo(shift + kStripe + 1, -1);
  }
  pen.stroke();
  return { image, repeat: "repeat" };
}

const preference = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;

export const isPrinting = () => printing;

export function theme() {
  const isDark = preference.matches && !printing;
  const colours = isDark ? dark : light;
  const of = (kind) => colours.list[places[kind] ?? kOther];
  return { ...colours, isDark, of, waiting: (kind) => hatched(of(kind), colours.paper) };
}

/** Calls `redraw` when light turns dark, and around printing, which is always light. */
export function onThemeChange(redraw) {
  preference.addEventListener("change", redraw);
  const print = (value) => () => {
    printing = value;
    redraw();
  };
  window.addEventListener("beforeprint", print(true));
  window.addEventListener("afterprint", print(false));
}
