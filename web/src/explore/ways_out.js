// Ways on from a plan that does not fit: buttons, never a dead end.
import { element, paragraph } from "../dom.js";
import { bytes, count, time } from "../format.js";
import { button } from "./controls.js";

const figures = ({ step_time_s: step, peak_memory_bytes: peak, devices }) =>
  `${devices ? `${count(devices)} GPUs, ` : ""}${time(step)} a step, ${bytes(peak)}`;

/**
 * The ways on: `show(answer)` after each prediction. `search(question)` asks a planner of its own, so
 * that the page goes on meanwhile; `want(wish)` shows another plan.
 */
export function waysOut({ search, want }) {
  const part = element("div", { class: "ways", hidden: "" });
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
  const seek = (name, ask, found) => async () => {
    const answer = shown;
    found.replaceChildren(paragraph(`${name}: the search has begun.`));
    const told = await search({ ask, text: JSON.stringify(answer.plan), name: "the plan" });
    if (answer === shown) found.replaceChildren(offered(name, told));
  };
  const remedies = (found) => async () => {
    const answer = shown;
    found.replaceChildren(paragraph("Changes that let it fit are looked for."));
    const told = await search({ ask: "remedies", text: JSON.stringify(answer.plan), name: "the plan" });
    if (answer !== shown) return;
    const ways = (told.remedies ?? []).map((one) => offered(one.name, { offer: one }));
    found.replaceChildren(...(ways.length > 0 ? ways : [paragraph(told.error ?? "No single change lets it fit.", "bad")]));
  };
  const misfit = () => {
    const found = element("div", { role: "status" });
    const buttons = [
      button("Nearest plan that fits", seek("Nearest plan that fits", "nearest_fit", found)),
      button("Smallest cluster that fits", seek("Smallest cluster that fits", "smallest_cluster", found)),
      button("Changes that let it fit", remedies(found)),
    ];
    return [element("div", { class: "controls" }, buttons), found];
  };
  return {
    part,
    show: (answer) => {
      shown = answer;
      const parts = answer.prediction && !answer.prediction.fits ? misfit() : [];
      part.hidden = parts.length === 0;
      part.replaceChildren(...parts);
    },
  };
}
