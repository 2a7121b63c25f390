// Colours for light and dark, told apart by everybody (after Okabe and Ito).

const light = {
  ink: "#1b2330",
  soft: "#5b6675",
  line: "#dfe3e8",
  paper: "#ffffff",
  good: "#0a7a55",
  bad: "#c2500f",
  list: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5cc8", "#7f7f7f"],
};
const dark = {
  ink: "#e6eaf0",
  soft: "#9aa6b5",
  line: "#2d3642",
  paper: "#1a2029",
  good: "#4cc79a",
  bad: "#ff9a62",
  list: ["#4aa8e8", "#f08a4b", "#3cc79b", "#e09ac4", "#e0b34a", "#8fd0f5", "#a893ea", "#a3a9b1"],
};

const named = {
  products: 0,
  attention: 5,
  experts: 6,
  routing: 3,
  memory_bound: 2,
  vocabulary: 4,
  bubble: 7,
  optimizer: 6,
  forward: 0,
  backward: 2,
  data_gradient: 2,
  weight_gradient: 5,
  head_gradient: 5,
  recompute: 4,
  update: 6,
  tensor: 1,
  context: 3,
  expert: 6,
  pipeline: 4,
  data: 5,
  host: 2,
  control: 7,
  parameters: 0,
  gradients: 2,
  activations: 1,
  logits: 3,
  gathered_parameters: 5,
  communication_buffers: 4,
  framework_reserve: 7,
};
// Of one breakdown or one account no two share a colour.
const own = {
  optimizer: ["#404a5a", "#d5dbe4"],
  experts: ["#00838a", "#45cfd6"],
  expert: ["#7a3e9d", "#c792ea"],
  pipeline: ["#8a5a2b", "#d7a878"],
  data: ["#96203f", "#ff8aa6"],
  host: ["#5b6f00", "#c3d94e"],
  "forward beside backward": ["#00838a", "#45cfd6"],
};

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

export function theme() {
  const isDark = preference.matches && !printing;
  const colours = isDark ? dark : light;
  const of = (kind) => own[kind]?.[isDark ? 1 : 0] ?? colours.list[named[kind] ?? 7];
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
