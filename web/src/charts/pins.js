// Bars of a timeline that a person pins: what each is, what it holds, and the time between two.
import { element, table } from "../dom.js";
import { zoomTo } from "../figure.js";
import { time } from "../format.js";

const kRoomAround = 8; // lengths of a bar that are shown on each side once it was searched for
const kLeastPart = 0.02; // percent of the axis

const kMarks = /[.,:;()]/g;
const plain = (text) => ` ${text.toLowerCase().replace(kMarks, " ").replace(/\s+/g, " ").trim()} `;
const textOf = (bar) => plain(`${bar.heading} ${bar.lines().flat().join(" ")}`);

/** What is asked for: words, and numbers with the word before them, "micro-batch 3". */
const terms = (text) => plain(text).match(/[^\s\d]\S*\s\d+(?=\s)|\S+/g) ?? [];
const holds = (own, term) => own.includes(/\d$/.test(term) ? ` ${term} ` : term);

/** The bars that are pinned: none, one, or the two between which time is measured. */
export class Pins {
  constructor({ rows, bars, end, inside }) {
    this.rows = rows;
    this.bars = bars;
    this.end = end;
    this.inside = inside;
    /** @type {import("../types").Bar[]} */
    this.list = [];
    this.told = element("div", { class: "pinned", role: "status" });
  }

  /** Pins a bar, or with `second` the other end of a measurement. */
  pin(picture, bar, second = false) {
    this.list = second && this.list.length > 0 ? [this.list[0], bar] : [bar];
    this.tell(picture);
  }

  clear(picture) {
    this.list = [];
    this.tell(picture);
  }

  tell(picture) {
    picture.spec.pinned(picture);
    this.show(picture);
  }

  /** The element that says what is pinned. */
  show(picture) {
    const [first, second] = this.list;
    const parts = this.list.map((bar, i) => this.about(bar, i));
    if (second) {
      const [before, after] = first.start <= second.start ? [first, second] : [second, first];
      parts.push(
        element(
          "p",
          {},
          `From the start of the earlier bar to the end of the later: ${time(Math.max(before.end, after.end) - before.start)}; between the two: ${time(Math.max(0, after.start - before.end))}.`,
        ),
      );
    }
    const clear = element("button", { type: "button" }, "Unpin");
    clear.addEventListener("click", () => this.clear(picture));
    this.told.replaceChildren(...parts, ...(first ? [clear] : []));
    return this.told;
  }

  about(bar, i) {
    const lines = [
      ["Row", this.rows[bar.row]],
      ["From", time(bar.start)],
      ["To", time(bar.end)],
      ["Takes", time(bar.end - bar.start)],
      ...bar.lines(),
    ];
    const held = i === 0 && this.inside?.(bar);
    return element(
      "div",
      {},
      element("p", {}, element("strong", {}, `Pinned: ${bar.heading}. `), lines.map(([name, value]) => `${name}: ${value}`).join("; ")),
      held && table(held),
    );
  }

  /** The bar before or after the pinned one in its row. */
  beside(step) {
    const [pinned] = this.list;
    const row = this.bars.filter((bar) => bar.row === (pinned?.row ?? 0)).sort((a, b) => a.start - b.start);
    return row[pinned ? row.indexOf(pinned) + step : 0];
  }

  /** Moves the pin with the keys n and p, and takes it away with Escape. */
  steer({ key, ctrlKey, metaKey, altKey }, picture) {
    if (ctrlKey || metaKey || altKey) return false;
    if (key === "Escape" && this.list.length > 0) {
      this.clear(picture);
      return true;
    }
    if (key !== "n" && key !== "p") return false;
    const next = this.beside(key === "n" ? 1 : -1);
    if (next) this.visit(picture, next);
    return true;
  }

  /** Pins a bar and brings it into sight. */
  visit(picture, bar) {
    this.pin(picture, bar);
    const { start, end } = picture.chart.getOption().dataZoom[0];
    const [from, to] = [bar.start, bar.end].map((at) => (100 * at) / this.end);
    if (from >= start && to <= end && to - from > kLeastPart * (end - start)) return;
    const around = Math.max(kRoomAround * (to - from), kLeastPart);
    zoomTo(picture, Math.max(0, from - around), Math.min(100, to + around));
  }

  /** The bars in which all terms stand, in order of time. */
  find(text) {
    const wanted = terms(text);
    if (wanted.length === 0) return [];
    const found = this.bars.filter((bar) => {
      const own = textOf(bar);
      return wanted.every((term) => holds(own, term));
    });
    return found.sort((a, b) => a.start - b.start);
  }
}

/** A field that finds bars by their words and goes from one to the next. */
export function searchField(pins, picture) {
  const field = element("input", { type: "search", placeholder: "backward stage 0 micro-batch 3" });
  const told = element("output", {});
  let [asked, found, place] = ["", [], -1];
  const go = () => {
    if (field.value !== asked) [asked, found, place] = [field.value, pins.find(field.value), -1];
    if (found.length === 0) {
      told.textContent = asked.trim() === "" ? "" : "nothing found";
      return;
    }
    place = (place + 1) % found.length;
    told.textContent = `${place + 1} of ${found.length}`;
    pins.visit(picture, found[place]);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go();
  });
  const next = element("button", { type: "button" }, "Find the next");
  next.addEventListener("click", go);
  return element("div", { class: "controls" }, element("label", {}, "Find a bar ", field), next, told);
}
