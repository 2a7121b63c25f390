// A picture with its words and its figures as a table.
import { element, table } from "./dom.js";
import { init } from "./echarts.js";
import { isPrinting, onThemeChange, theme } from "./theme.js";

const kNarrow = 560;
const kPaperWidth = 700; // pixels of a chart on paper, which then takes the width of the page
const kMostPaperHeight = 250;
const kPaperDetail = 2; // pixels of the picture in each of them
const kStep = 0.2;
const kLine = 22; // of a legend, in pixels
const kLetter = 6.8;
let drawn = [];
let watching = false;
let wasOnPaper = false;

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
    legend: {
      data: names,
      top: 0,
      left: 0,
      width: width - 8,
      itemWidth: 14,
      itemHeight: 10,
      textStyle: { color: colours.ink, fontSize: 12 },
    },
  };
}

/** The width and height at which a picture is drawn now: on paper not as high as on a screen, but for its rows. */
function sizeOf({ holder, spec }, colours) {
  const width = isPrinting() ? kPaperWidth : holder.clientWidth;
  const narrow = width < kNarrow;
  const wanted = typeof spec.height === "function" ? spec.height(width, narrow, isPrinting()) : spec.height;
  const height = isPrinting() ? (spec.rows ? wanted : Math.min(wanted, kMostPaperHeight)) - (spec.slider ?? 0) : wanted;
  return { width, narrow, height: height + legend(colours, width, spec.names ?? []).height };
}

const zoomOf = ({ chart }) => chart.getOption()?.dataZoom?.map(({ start, end }) => ({ start, end }));

/** Sliders are of no use on paper: without them, and without their room. */
const onPaper = (option, { slider = 0 }) => ({
  ...option,
  grid: { ...option.grid, bottom: option.grid.bottom - slider },
  dataZoom: option.dataZoom?.map((zoom) => ({ ...zoom, show: false })),
});

function redraw(picture) {
  const { chart, holder, spec } = picture;
  const colours = theme();
  const { width, narrow, height } = sizeOf(picture, colours);
  holder.style.height = `${height}px`;
  holder.style.setProperty("--shape", `${width} / ${height}`);
  chart.resize({ width, height });
  const zoom = picture.zoom ?? zoomOf(picture);
  picture.zoom = undefined;
  const { tooltip, ...option } = spec.option({ colours, narrow, width, chart });
  const base = common(colours);
  if (zoom && option.dataZoom?.length === zoom.length && picture.keepZoom) {
    option.dataZoom = option.dataZoom.map((one, i) => ({ ...one, ...zoom[i] }));
  }
  chart.setOption({ ...base, ...(isPrinting() ? onPaper(option, spec) : option), tooltip: { ...base.tooltip, ...tooltip } }, true);
  picture.keepZoom = true;
}

/** Ends a chart. A frame that still waits would paint into layers that are gone: a painting of nothing takes its turn. */
function end(chart) {
  chart.clear();
  chart.getZr().flush();
  chart.dispose();
}

/** Makes the chart of a picture, in more detail for paper. */
function begin(picture) {
  picture.zoom = picture.chart && zoomOf(picture);
  if (picture.chart) end(picture.chart);
  const { width, height } = sizeOf(picture, theme());
  picture.chart = init(picture.holder, null, { width, height, ...(isPrinting() && { devicePixelRatio: kPaperDetail }) });
  picture.chart.on("click", (event) => picture.spec.clicked?.(event, picture));
  picture.chart.getZr().on("mousemove", (event) => {
    picture.spec.pointed?.(event, picture);
  });
  redraw(picture);
  if (isPrinting()) toPaper(picture);
}

/** Puts one picture of pixels in the place of a chart's layers, of which some browsers print the uppermost alone. */
function toPaper({ chart, holder }) {
  const drawn = chart.renderToCanvas({ pixelRatio: kPaperDetail, backgroundColor: theme().paper });
  const picture = /** @type {HTMLCanvasElement} */ (element("canvas", { width: drawn.width, height: drawn.height }));
  picture.getContext("2d").putImageData(drawn.getContext("2d").getImageData(0, 0, drawn.width, drawn.height), 0, 0);
  const layers = [...holder.querySelectorAll("canvas")];
  layers[0].after(picture);
  for (const layer of layers) layer.remove();
}

/** Shows this part of the axis, in percent. */
export function zoomTo(picture, start, end) {
  picture.chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end });
}

/** Moves the zoom of a focused chart with the keys + - 0 and the arrows; other keys are the picture's own. */
function steer(picture, event) {
  if (picture.spec.key?.(event, picture)) return event.preventDefault();
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
  zoomTo(picture, start, end);
}

function viewButton(picture, { name, start, end }) {
  const button = element("button", { type: "button" }, name);
  button.addEventListener("click", () => zoomTo(picture, start, end));
  return button;
}

/**
 * `spec`: `label` says what is to be seen, `option({colours, narrow, width})` and `height` draw it,
 * `names` are those of its legend, for which there is room beside the height, `caption` explains it,
 * `figures` is its table, `controls` stand above it, `views` [{name, start, end}] are parts of a
 * zoomed axis to go to, `beside(picture)` makes what stands below it. A `spec` may listen: `clicked(event, picture)`,
 * `pointed(event, picture)` and `key(event, picture)`, which returns true where the key was its own. `rows`: its height follows
 * its rows, also on paper; `slider` is the height of one below it. The element gets `change(spec)`, which draws something else in its place.
 * @param {import("./types").Spec} spec
 * @returns {any}
 */
export function figure(spec) {
  const holder = element("div", { class: "chart", tabindex: "0", role: "img" });
  const figures = element("details", {}, element("summary", {}, "The figures as a table"));
  const buttons = element("div", { class: "controls" });
  const caption = element("figcaption", {});
  const picture = { holder, spec, keepZoom: false, beside: element("div", { class: "beside" }) };
  const whole = element("figure", {}, spec.controls, buttons, holder, picture.beside, spec.caption && caption, spec.figures && figures);
  const fill = () => {
    holder.setAttribute("aria-label", picture.spec.label);
    caption.textContent = picture.spec.caption ?? "";
    buttons.replaceChildren(...(picture.spec.views ?? []).map((view) => viewButton(picture, view)));
    const now = picture.spec.figures;
    figures.replaceChildren(figures.firstChild, ...(now ? [table(now)] : []));
    picture.beside.replaceChildren(...(picture.spec.beside?.(picture) ?? []));
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

/** Forgets the figures that are no longer in the page, and draws the others again; in more detail for paper. */
function drawAgain() {
  const gone = drawn.filter(({ chart, holder }) => chart && !holder.isConnected);
  for (const { chart } of gone) end(chart);
  drawn = drawn.filter((picture) => !gone.includes(picture));
  const onPaperNow = isPrinting();
  drawn.filter(({ chart }) => chart).forEach(onPaperNow === wasOnPaper ? redraw : begin);
  wasOnPaper = onPaperNow;
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
}

/** Draws the figures that have got their place in the page, and from then on when it changes. */
export function drawAll() {
  drawn.filter(({ chart }) => !chart).forEach(begin);
  if (!watching) watch();
}
