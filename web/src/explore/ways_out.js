// Ways on from a plan that does not fit: buttons, never a dead end.
import { element, paragraph } from "../dom.js";
import { bytes, count, time } from "../format.js";
import { button } from "./controls.js";
import { Search } from "./search.js";

const figures = ({ step_time_s: step, peak_memory_bytes: peak, devices }) =>
  `${devices ? `${count(devices)} GPUs, ` : ""}${time(step)} a step, ${bytes(peak)}`;

/** The ways on: `show(answer)` after each prediction; `want(wish)` shows another plan. */
export function waysOut({ module, want }) {
  const part = element("div", { class: "ways", hidden: "" });
  const found = element("div", { role: "status" });
  const search = new Search(module, found);
  let shown;
  /**
   * @param {string} name
   * @param {{offer?: any, none?: string, error?: string}} told
   */
  const offered = (name, { offer, none, error }) => {
    if (!offer) return paragraph(`${name}: ${error ?? none}.`, "bad");
    return element(
      "div",
      { class: "controls" },
      button(`Take ${offer.changes || "it"}`, () => want({ plan: offer.plan })),
      `${name}: ${figures(offer)}`,
    );
  };
  const asked = (name, ask) => search.run(name, { ask, text: JSON.stringify(shown.plan), name: "the plan" });
  const seek = (name, ask) => async () => found.replaceChildren(offered(name, await asked(name, ask)));
  const remedies = (name) => async () => {
    const told = await asked(name, "remedies");
    const ways = (told.remedies ?? []).map((one) => offered(one.name, { offer: one }));
    found.replaceChildren(...(ways.length > 0 ? ways : [paragraph(told.error ?? "No single change lets it fit.", "bad")]));
  };
  const way = (name, begin) => button(name, begin(name));
  part.append(
    element("div", { class: "controls" }, [
      way("Nearest plan that fits", (name) => seek(name, "nearest_fit")),
      way("Smallest cluster that fits", (name) => seek(name, "smallest_cluster")),
      way("Changes that let it fit", remedies),
    ]),
    found,
  );
  return {
    part,
    show: (answer) => {
      search.stop();
      found.replaceChildren();
      shown = answer;
      part.hidden = !answer.prediction || answer.prediction.fits;
    },
  };
}
