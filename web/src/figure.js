// A picture with its words and its figures as a table.
import { element, table } from "./dom.js";
import { init } from "./echarts.js";
import { onThemeChange, theme } from "./theme.js";

const kNarrow = 560;
const kStep = 0.2;
const kLine = 22; // of a legend, in pixels
const kLetter = 6.8;
let drawn = [];
let watching = false;

const font = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";

function common(colours) {
  return {
    backgroundColor: "transparent",
    animation: false,
    textStyle: { color: colours.ink, fontFamily: font },
    tooltip: {
      confine: true,
      backgroundColor: colours.paper,
      borderColor: colours.line,
      textStyle: { color: colours.ink, fontSize: 13 },
      extraCssText: "max-width: min(22rem, 80vw); white-space: normal;",
    },
  };
}

/** The parts that every axis and legend have alike. */
export function axis(colours, more) {
  return {
    axisLine: { lineStyle: { color: colours.soft } },
    axisTick: { lineStyle: { color: colours.soft } },
    splitLine: { lineStyle: { color: colours.line } },
    nameTextStyle: { color: colours.soft },
    nameLocation: "middle",
    ...more,
    axisLabel: { color: colours.soft, ...more.axisLabel },
  };
}

/** A legend of these names in as many lines as it needs, and how high it is. */
export function legend(colours, width, names) {
  if (names.length === 0) return { height: 6 };
  const kMark = 14 + 5 + 10;
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const length = kMark + kLetter * name.length;
    if (used + length > width - 8) {
      lines += 1;
      used = 0;
    }
    used += length;
  }
  return {
    height: kLine * lines + 10,
    legend: { data: names, top: 0, left: 0, width: width - 8, itemWidth: 14, itemHeight: 10, textStyle: { color: colours.ink, fontSize: 12 } },
  };
}

function redraw(picture) {
  const { chart, holder, spec } = picture;
  const width = holder.clientWidth;
  const narrow = width < kNarrow;
  const colours = theme();
  const height = typeof spec.height === "function" ? spec.height(width, narrow) : spec.height;
  holder.style.height = `${height + legend(colours, width, spec.names ?? []).height}px`;
  chart.resize();
  const zoom = chart.getOption()?.dataZoom?.map(({ start, end }) => ({ start, end }));
  const { tooltip, ...option } = spec.option({ colours, narrow, width });
  const base = common(colours);
  if (zoom && option.dataZoom?.length === zoom.length && picture.keepZoom) {
    option.dataZoom = option.dataZoom.map((one, i) => ({ ...one, ...zoom[i] }));
  }
  chart.setOption({ ...base, ...option, tooltip: { ...base.tooltip, ...tooltip } }, true);
  picture.keepZoom = true;
}

/** Moves the zoom of a focused chart with the keys + - 0 and the arrows. */
function steer(picture, event) {
  const zoom = picture.chart.getOption()?.dataZoom?.[0];
  if (!zoom || event.ctrlKey || event.metaKey || event.altKey) return;
  const length = zoom.end - zoom.start;
  const moves = {
    "+": [zoom.start + (kStep * length) / 2, zoom.end - (kStep * length) / 2],
    "-": [zoom.start - (kStep * length) / 2, zoom.end + (kStep * length) / 2],
    0: [0, 100],
    ArrowLeft: [zoom.start - kStep * length, zoom.end - kStep * length],
    ArrowRight: [zoom.start + kStep * length, zoom.end + kStep * length],
  };
  const move = moves[event.key === "=" ? "+" : event.key];
  if (!move) return;
  event.preventDefault();
  let [start, end] = move;
  if (start < 0) [start, end] = [0, Math.min(100, event.key === "-" ? end : length)];
  if (end > 100) [start, end] = [event.key === "-" ? start : 100 - length, 100];
  picture.chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end });
}

function viewButton(picture, { name, start, end }) {
  const button = element("button", { type: "button" }, name);
  button.addEventListener("click", () => picture.chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end }));
  return button;
}

/**
 * `spec`: `label` says what is to be seen, `option({colours, narrow, width})` and `height` draw it,
 * `names` are those of its legend, for which there is room beside the height, `caption` explains it,
 * `figures` is its table, `controls` stand above it, `views` [{name, start, end}] are parts of a
 * zoomed axis to go to. The element gets `change(spec)`, which draws something else in its place.
 */
export function figure(spec) {
  const holder = element("div", { class: "chart", tabindex: "0", role: "img" });
  const figures = element("details", {}, element("summary", {}, "The figures as a table"));
  const buttons = element("div", { class: "controls" });
  const caption = element("figcaption", {});
  const whole = element("figure", {}, spec.controls, buttons, holder, spec.caption && caption, spec.figures && figures);
  const picture = { holder, spec, keepZoom: false };
  const fill = () => {
    holder.setAttribute("aria-label", picture.spec.label);
    caption.textContent = picture.spec.caption ?? "";
    buttons.replaceChildren(...(picture.spec.views ?? []).map((view) => viewButton(picture, view)));
    const now = picture.spec.figures;
    figures.replaceChildren(figures.firstChild, ...(now ? [table(now)] : []));
  };
  fill();
  whole.change = (next) => {
    picture.spec = { ...picture.spec, ...next };
    picture.keepZoom = false;
    fill();
    redraw(picture);
  };
  holder.addEventListener("keydown", (event) => steer(picture, event));
  drawn.push(picture);
  return whole;
}

/** Forgets the figures that are no longer in the page, and draws the others again. */
function drawAgain() {
  const gone = drawn.filter(({ chart, holder }) => chart && !holder.isConnected);
  for (const { chart } of gone) chart.dispose();
  drawn = drawn.filter((picture) => !gone.includes(picture));
  drawn.filter(({ chart }) => chart).forEach(redraw);
}

function watch() {
  watching = true;
  onThemeChange(drawAgain);
  let width = window.innerWidth;
  let waiting;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAgain, 100);
  });
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of opened) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
}

/** Draws the figures that have got their place in the page, and from then on when it changes. */
export function drawAll() {
  for (const picture of drawn.filter(({ chart }) => !chart)) {
    picture.holder.style.height = "100px";
    picture.chart = init(picture.holder);
    redraw(picture);
  }
  if (!watching) watch();
}
