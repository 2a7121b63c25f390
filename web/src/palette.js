// Colours of pictures in light and dark, and which kinds get which. People who see no red or no green tell apart what is drawn
// together, too; tests/report/palette_test.py measures it.

export const light = {
  ink: "#1b2330",
  soft: "#5b6675",
  line: "#dfe3e8",
  paper: "#ffffff",
  good: "#0a7a55",
  bad: "#b3400a",
  list: ["#0572b2", "#ae500d", "#1b9d70", "#dd89d4", "#c18c05", "#668693", "#e09fa7", "#404a5a"],
};
export const dark = {
  ink: "#e6eaf0",
  soft: "#9aa6b5",
  line: "#2d3642",
  paper: "#1a2029",
  good: "#4cc79a",
  bad: "#ff9a62",
  list: ["#49a8e9", "#c37344", "#40c69d", "#b57fa0", "#dba900", "#e6e694", "#6f67ce", "#867c72"],
};

/**
 * What is drawn together, each kind with its place in the list of colours: computation of a step, what it waits for, memory,
 * slots of a timeline, its messages. No two of a group share a colour, but for kinds that are never in one picture.
 */
export const groups = {
  computation: { products: 0, attention: 5, experts: 6, routing: 3, memory_bound: 2, vocabulary: 4, optimizer: 7 },
  waits: { tensor: 1, context: 3, expert: 6, pipeline: 4, data: 5, host: 2, bubble: 7 },
  memory: {
    parameters: 0,
    gradients: 2,
    optimizer: 7,
    activations: 1,
    logits: 3,
    gathered_parameters: 5,
    communication_buffers: 4,
    framework_reserve: 6,
  },
  slots: {
    forward: 0,
    backward: 2,
    data_gradient: 2,
    weight_gradient: 5,
    head_gradient: 3,
    recompute: 1,
    vocabulary: 4,
    update: 7,
    optimizer: 7,
    "forward beside backward": 6,
  },
  messages: {
    tensor: 1,
    context: 3,
    expert: 6,
    pipeline: 4,
    data: 5,
    host: 2,
    control: 7,
    "link inside a node": 7,
    "link of the network": 0,
  },
};
export const places = Object.assign({}, ...Object.values(groups));

/** A colour "#rrggbb" as its relative luminance (WCAG 2). */
function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever is read better on a colour: a contrast of 4.5:1 or more. */
export const textOn = (colour) => (luminance(colour) > 0.179 ? "#000000" : "#ffffff");
