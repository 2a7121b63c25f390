// The plan as the files of other programs: written, refused with what would run instead, downloaded.
import { choice, element, list, paragraph, table } from "../dom.js";
import { bytes, time } from "../format.js";
import { section } from "../section.js";
import { button } from "./controls.js";

/** Gives a text to the person as a file. */
function download({ name, text }) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

const figures = ({ step_time_s: step, peak_memory_bytes: peak, fits }) =>
  `A step takes ${time(step)} as the file starts it; the fullest GPU holds ${bytes(peak)}, which ${fits ? "fits" : "DOES NOT FIT"}.`;

/** A line for each framework: whether its files start the plan, else why not and what would run. */
function frameworks({ launches }, take) {
  const row = ({ to, starts, why = "", nearest, step_time_s: step }) => [
    to,
    starts ? "yes" : "no",
    why,
    nearest ? button(`Take ${nearest.changes}`, () => take(nearest.plan)) : "",
    step === undefined ? "" : time(step),
  ];
  const columns = [
    { name: "Files of" },
    { name: "Start this plan" },
    { name: "Why not" },
    { name: "Nearest plan that runs there" },
    { name: "Its step", number: true },
  ];
  return table({ caption: "Which frameworks start this plan", columns, rows: launches.map(row) });
}

/**
 * The part "Launch file". `ask(question)` asks the planner, `plan()` is the plan in sight with its
 * order, `want(wish)` shows another. `part`; `show()` follows another plan in sight.
 */
export function launchFiles({ targets }, { ask, plan, want }) {
  const told = element("div", { role: "status" });
  const asked = (question) => ask({ text: JSON.stringify(plan()), name: "the plan", ...question });
  let to = targets[0].to;
  const pick = choice(
    "For",
    targets.map((target) => ({ value: target.to, name: `${target.to}: ${target.about}` })),
    (value) => (to = value),
  );
  const take = (other) => want({ plan: other });
  const written = (answer) => {
    download(answer.file);
    const text = element("details", {}, element("summary", {}, answer.file.name), element("pre", { tabindex: "0" }, answer.file.text));
    told.replaceChildren(
      paragraph(`${answer.file.name} is written. ${figures(answer)}`, answer.fits ? undefined : "bad"),
      list(answer.notes),
      text,
    );
  };
  const refused = ({ refused: why, nearest }) => {
    const ways = nearest
      ? [
          button(`Take ${nearest.changes || "the plan as it is written there"}`, () => take(nearest.plan)),
          button("Download the nearest plan", () => write(true)),
        ]
      : [];
    told.replaceChildren(paragraph(`${to} does not run this plan: ${why}.`, "bad"), element("div", { class: "controls" }, ways));
  };
  const write = async (nearest = false) => {
    const answer = await asked({ ask: "export", to, nearest });
    if (answer.error !== undefined) told.replaceChildren(paragraph(answer.error, "bad"));
    else if (answer.refused !== undefined) refused(answer);
    else written(answer);
  };
  const compare = async () => {
    told.replaceChildren(paragraph("The plan is written for each framework and read back."));
    const answer = await asked({ ask: "launches" });
    told.replaceChildren(answer.error === undefined ? frameworks(answer, take) : paragraph(answer.error, "bad"));
  };
  const controls = element(
    "div",
    { class: "controls" },
    pick,
    button("Download", () => write()),
    button("Which frameworks start this plan", compare),
  );
  return { part: section("Launch file", "Write the launch file", controls, told), show: () => told.replaceChildren() };
}
