// The explorer: a plan that is changed by hand, and what becomes of it.
import { memoryPeaks } from "../charts/memory.js";
import { overview } from "../charts/timeline.js";
import { element, list, paragraph } from "../dom.js";
import { Engine, unpacked } from "../engine/engine.js";
import { button } from "../explore/controls.js";
import { linkOf, planOf } from "../explore/link.js";
import { panel } from "../explore/panel.js";
import { drawAll, figure } from "../figure.js";
import { bytes, count, time } from "../format.js";
import { chosenFigure, section } from "../section.js";
import { furtherSections, headline, lossSentence, memorySentence, stageTimes } from "./plan.js";

const kLinked = "the plan of this link";
const kSlow = 400; // milliseconds without an answer
const kRead = 4000; // milliseconds for a line that goes away again

const kFirstJob = {
  stepwright: "job/2",
  model: "llama-3-70b",
  cluster: { profile: "dgx-h100", nodes: 8 },
  batch: { sequences: 512, length: 8192 },
};

/** The figures of one plan, made once and changed with each answer. */
class Results {
  constructor() {
    this.part = element("div", { class: "results" });
  }

  show(answer) {
    const { prediction, memory, words, code, whole_run: run } = answer;
    if (!this.stages) this.make(answer);
    this.lead.replaceChildren(`${answer.job}: ${words}. `, element("code", {}, code));
    this.tiles.replaceChildren(headline(prediction, run));
    this.losses.textContent = lossSentence(prediction);
    this.fullest.textContent = memorySentence(memory);
    this.stages.change(stageTimes(prediction));
    this.memory.change(memoryPeaks(memory));
    this.notes.replaceChildren(list(prediction.notes));
  }

  draw({ timeline }) {
    const view = overview(timeline);
    if (this.timeline) {
      this.timeline.renew(view);
      return;
    }
    this.timeline = chosenFigure("Show", view);
    this.place.append(this.timeline);
    drawAll();
  }

  make({ prediction, memory }) {
    this.lead = element("p", { class: "lead" });
    this.tiles = element("div", {});
    this.losses = paragraph("");
    this.fullest = paragraph("");
    this.stages = figure(stageTimes(prediction));
    this.place = section("Timeline", "The timeline of one step");
    this.memory = figure(memoryPeaks(memory));
    this.notes = element("div", {});
    this.part.replaceChildren(
      this.lead,
      this.tiles,
      this.place,
      section("Memory", "What fills the memory", this.fullest, this.memory),
      section("Time", "Where the time of a step goes", this.losses, this.stages),
      section("Notes", "What to know before you rely on this", this.notes),
    );
    drawAll();
  }
}

class Explorer {
  constructor(parts, engine, choices) {
    Object.assign(this, parts, { engine });
    this.panel = panel(choices, {
      changed: (plan, settle) => this.want({ plan, settle }),
      begun: (plan) => this.want({ plan }),
    });
    this.results = new Results();
    this.further = element("div", {});
    this.found = element("div", { class: "found" });
    this.search = button("Find the best plan", () => (this.searching ? this.endSearch() : this.tune()), true);
    const file = element("input", { type: "file", accept: ".yaml,.yml,.json", hidden: "" });
    file.addEventListener("change", async () => {
      const [opened] = file.files;
      if (opened) this.want({ text: await opened.text(), name: opened.name });
      file.value = "";
    });
    const controls = element(
      "div",
      { class: "controls" },
      this.search,
      button("Rule of thumb", () => this.want({ plan: this.job() })),
      button("Open a job or plan", () => file.click()),
      button("Save the plan", () => this.save()),
      button("Copy the link", () => this.copy()),
      file,
    );
    this.aside.replaceChildren(controls, this.found, this.panel.part);
    this.main.replaceChildren(
      this.results.part,
      element("div", { class: "controls" }, button("Every picture of this plan", () => this.picture())),
      this.further,
    );
    window.addEventListener("hashchange", () => this.open());
  }

  /** The job of the plan in sight, with the kernel of attention that is best for it. */
  job() {
    const { kernels, ...job } = this.plan.job;
    const { attention, ...others } = kernels;
    return { stepwright: "job/2", ...job, kernels: others };
  }

  /** Shows what the address holds, or the first job. */
  async open() {
    if (location.hash === this.link) return;
    this.link = location.hash;
    try {
      const text = await planOf(location.hash);
      this.want(text === undefined ? { plan: kFirstJob } : { text, name: kLinked });
    } catch {
      this.say("The link is damaged: it holds no plan. Perhaps a part of it was lost when it was copied.", [this.first()]);
    }
  }

  /** The way out where there is no plan to go on with. */
  first() {
    const { model, cluster } = kFirstJob;
    return button(`Begin with ${model} on ${cluster.nodes} nodes of ${cluster.profile}`, () => this.want({ plan: kFirstJob }));
  }

  /** Asks for a plan, then for its timeline; of several wishes while the planner thinks only the last. */
  async want(wish) {
    this.wish = wish;
    if (this.thinking) return;
    this.thinking = true;
    document.documentElement.dataset.thinking = "yes"; // for tests, as below
    const slow = setTimeout(() => this.bar.replaceChildren("The planner is at work."), kSlow);
    while (this.wish) {
      const { plan, text = JSON.stringify(plan), name = "the plan", settle = false } = this.wish;
      this.wish = undefined;
      const began = performance.now();
      const answer = await this.engine.ask({ ask: "predict", text, name, settle });
      clearTimeout(slow);
      const took = performance.now() - began;
      if (answer.error === undefined) await this.show(answer);
      else this.refuse(answer.error, name);
      if (!this.wish && answer.prediction) this.results.draw(await this.engine.ask({ ask: "timeline", text: JSON.stringify(this.settled), name }));
      document.documentElement.dataset.answered = took.toFixed(1); // milliseconds; for tests and the curious
    }
    this.thinking = false;
    delete document.documentElement.dataset.thinking;
  }

  /** What cannot be read leaves panel and pictures at the last plan that could. */
  refuse(error, name) {
    this.say(name === kLinked ? `This link holds a plan that cannot be read: ${error}` : error, this.plan ? [] : [this.first()]);
    if (!this.plan) return;
    this.panel.show(this.plan, this.sizes);
    this.tell();
  }

  async show(answer) {
    this.plan = answer.plan;
    this.sizes = answer.sizes;
    this.whole.hidden = false;
    this.settled = answer.settled ?? answer.plan; // with the order that `auto` found, which is searched for once
    this.panel.show(answer.plan, answer.sizes);
    this.link = await linkOf(answer.plan);
    history.replaceState(null, "", this.link);
    if (answer.refused) {
      this.tell();
      this.say(`${answer.refused}.`, answer.nearest.map(({ changes, plan }) => button(`Take ${changes}`, () => this.want({ plan }))));
      return;
    }
    this.say();
    this.further.replaceChildren();
    this.results.show(answer);
    this.shown = answer;
    this.tell();
  }

  /** The line that stays in sight, of the plan in the pictures. */
  tell() {
    if (!this.shown) return this.bar.replaceChildren("No plan is shown.");
    const { step_time_s: step, tokens_per_s_per_device: tokens, fits } = this.shown.prediction;
    const { peak_memory_bytes: peak, over_by_bytes: over } = this.shown.memory;
    const memory = fits ? `${bytes(peak)} fit` : `does not fit by ${bytes(over)}`;
    return this.bar.replaceChildren(`${time(step)} a step, ${count(tokens)} tokens/s of each GPU, `, element("span", { class: fits ? "good" : "bad" }, memory));
  }

  /** Why the plan in the panel is not the one in the pictures; nothing where it is. */
  say(message, ways = []) {
    const focused = this.message.contains(document.activeElement);
    this.message.hidden = message === undefined;
    if (focused) this.search.focus(); // what had it is gone
    this.search.classList.toggle("primary", ways.length === 0);
    ways[0]?.classList.add("primary");
    if (!this.plan) this.bar.replaceChildren("No plan is shown.");
    this.main.classList.toggle("stale", message !== undefined);
    this.message.replaceChildren(paragraph(message ?? ""), element("div", { class: "controls" }, ways));
  }

  async tune() {
    this.searching = new Engine(this.engine.module);
    this.search.textContent = "Stop the search";
    this.found.replaceChildren(paragraph("The search has begun."));
    const tell = ({ simulating, done, most }) =>
      this.found.replaceChildren(
        paragraph(`${simulating ? "Plans simulated" : "Parts of the space searched"}: ${count(done)} of at most ${count(most)}`),
        element("progress", { max: String(Math.max(most, 1)), value: String(done), "aria-label": "How far the search is" }),
      );
    const asked = JSON.stringify(this.job());
    const answer = await this.searching.ask({ ask: "tune", text: asked, name: "the job" }, tell);
    this.endSearch();
    if (answer.error !== undefined) return this.say(answer.error);
    const [best] = answer.plans;
    const same = asked === JSON.stringify(this.job()); // else the person has gone on to another job
    const line = (plan) => element("li", {}, button(plan.code, () => this.want({ plan: plan.plan })), ` ${time(plan.step_time_s)}, ${bytes(plan.peak_memory_bytes)}`);
    this.found.replaceChildren(
      paragraph(best.fits ? `The best of ${count(answer.legal)} legal plans${same ? "" : " of the job as it was when the search began"}, and the best of other families:` : "No plan fits; this one needs the least memory:"),
      element("ol", {}, answer.plans.map(line)),
    );
    return same && this.want({ plan: best.plan });
  }

  endSearch() {
    this.searching.stop();
    this.searching = undefined;
    this.search.textContent = "Find the best plan";
    this.found.replaceChildren();
  }

  async picture() {
    this.further.replaceChildren(paragraph("The pictures are being drawn."));
    const pictures = await this.engine.ask({ ask: "pictures", text: JSON.stringify(this.settled), name: "the plan" });
    if (pictures.error !== undefined) {
      this.further.replaceChildren();
      return this.say(pictures.error);
    }
    this.further.replaceChildren(...furtherSections(pictures).filter(Boolean));
    return drawAll();
  }

  save() {
    const file = new Blob([`${JSON.stringify(this.settled, null, 2)}\n`], { type: "application/json" });
    const link = element("a", { href: URL.createObjectURL(file), download: "plan.json" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.bar.replaceChildren("The link to this plan is copied.");
    } catch {
      this.bar.replaceChildren("This browser does not let the page copy. The address of the page is the link.");
    }
    setTimeout(() => this.tell(), kRead);
  }
}

export function explorePage({ engine: packed }) {
  const parts = {
    bar: element("p", { class: "bar", role: "status" }, "The planner is being unpacked."),
    message: element("div", { class: "message", role: "alert", hidden: "" }),
    aside: element("div", { class: "aside" }),
    main: element("div", { class: "main" }),
  };
  parts.whole = element("div", { class: "explorer", hidden: "" }, parts.aside, parts.main);
  (async () => {
    const engine = new Engine(await unpacked(packed));
    const choices = await engine.ask({ ask: "choices" });
    if (choices.error !== undefined) throw new Error(choices.error);
    const explorer = new Explorer(parts, engine, choices);
    await explorer.open();
  })().catch((error) => parts.bar.replaceChildren(`The planner cannot run in this browser: ${error.message}`));
  return [parts.bar, parts.message, parts.whole];
}
