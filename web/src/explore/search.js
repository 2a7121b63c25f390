// A search by a planner of its own, so that the page goes on meanwhile: how far it is, and a button that stops it.
import { element, paragraph } from "../dom.js";
import { Engine } from "../engine/engine.js";
import { count } from "../format.js";
import { button } from "./controls.js";

const kHowFar = "How far the search is";

/** How far a search is, in words and as a bar. */
export const progress = ({ simulating, done, most }) => [
  paragraph(`${simulating ? "Plans simulated" : "Parts of the space searched"}: ${count(done)} of at most ${count(most)}`),
  element("progress", { max: String(Math.max(most, 1)), value: String(done), "aria-label": kHowFar }),
];

/** One search at a time, told of in `place`; a second one ends the first. */
export class Search {
  constructor(module, place) {
    this.module = module;
    this.place = place;
  }

  /** The answer to a question. A search that is stopped gives none: what waits for it is left. */
  async run(name, question) {
    this.stop();
    this.engine = new Engine(this.module);
    const told = element("div", { "aria-live": "off" }, element("progress", { "aria-label": kHowFar }));
    const stop = button("Stop", () => {
      this.stop();
      this.place.replaceChildren(paragraph(`${name}: stopped.`));
    });
    this.place.replaceChildren(paragraph(`${name}: the planner searches.`), told, element("div", { class: "controls" }, stop));
    const answer = await this.engine.ask(question, (state) => told.replaceChildren(...progress(state)));
    this.stop();
    return answer;
  }

  /** Ends the search that is going on. */
  stop() {
    this.engine?.stop();
    this.engine = undefined;
  }
}
