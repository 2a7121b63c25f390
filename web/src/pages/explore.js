// The explorer: a plan that is changed by hand, and what becomes of it.
import { memoryPeaks } from "../charts/memory.js";
import { overview } from "../charts/timeline.js";
import { element, list, paragraph } from "../dom.js";
import { Engine, fetched, unpacked } from "../engine/engine.js";
import { pareto } from "../charts/pareto.js";
import { button } from "../explore/controls.js";
import { differences, differenceText } from "../explore/differences.js";
import { linkOf, planOf } from "../explore/link.js";
import { ownParts } from "../explore/own_parts.js";
import { panel } from "../explore/panel.js";
import { savedPlans } from "../explore/saved.js";
import { progress } from "../explore/search.js";
import { Steps } from "../explore/steps.js";
import { drawAll, figure } from "../figure.js";
import { bytes, count, time } from "../format.js";
import { chosenFigure, section } from "../section.js";
import { fitSentence, furtherSections, headline, lossSentence, memorySentence, noneFits, stageTimes } from "./plan.js";

const kLinked = "the plan of this link";
const kSlow = 400; // milliseconds without an answer
const kRead = 4000; // milliseconds for a line that goes away again
const kToldChanges = 6; // that followed a change, by name

const kFirstJob = {
  stepwright: "job/2",
  model: "llama-3-70b",
  cluster: { profile: "dgx-h100", nodes: 8 },
  batch: { sequences: 512, length: 8192 },
};

/** The figures of one plan, made once and changed with each answer; beside those of plan A once one is pinned. */
class Results {
  constructor() {
    this.part = element("div", { class: "results" });
  }

  show(answer) {
    const { prediction, memory, words, code, whole_run: run } = answer;
    if (!this.stages) this.make(answer);
    this.answer = answer;
    this.lead.replaceChildren(`${answer.job}: ${words}. `, element("code", {}, code));
    this.tiles.replaceChildren(headline(prediction, run, this.pinned?.answer.prediction));
    this.losses.textContent = lossSentence(prediction);
    this.fullest.textContent = memorySentence(memory);
    this.stages.change(stageTimes(prediction, this.pinned?.answer.prediction));
    this.memory.change(memoryPeaks(memory, this.pinned?.answer.memory));
    this.notes.replaceChildren(list(prediction.notes));
    this.against.replaceChildren(...this.toldPinned());
  }

  /** Draws the timeline of the plan in sight, or says why there is none. */
  draw({ timeline, error }) {
    this.drawn = timeline;
    this.undrawn.hidden = error === undefined;
    this.undrawn.textContent = error ?? "";
    if (this.timeline) this.timeline.hidden = error !== undefined;
    if (error !== undefined) return;
    const view = overview(timeline, this.pinned?.timeline);
    if (this.timeline) {
      this.timeline.renew(view);
      return;
    }
    this.timeline = chosenFigure("Show", view);
    this.place.append(this.timeline);
    drawAll();
  }

  /** Makes the plan in sight the one that others are compared with; without one, none. */
  pin(pinned) {
    this.pinned = pinned;
    this.show(this.answer);
    if (this.drawn) this.draw({ timeline: this.drawn, error: undefined });
  }

  /** What A is, and in what the plan in sight differs from it. */
  toldPinned() {
    if (!this.pinned) return [];
    const changed = differences(this.pinned.answer.plan, this.answer.plan);
    const text =
      changed.length === 0
        ? "This plan is A."
        : `Against A (step ${time(this.pinned.answer.prediction.step_time_s)}): ${changed.map(differenceText).join("; ")}.`;
    return [paragraph(text)];
  }

  make({ prediction, memory }) {
    this.lead = element("p", { class: "lead" });
    this.tiles = element("div", {});
    this.against = element("div", { class: "against" });
    this.losses = paragraph("");
    this.fullest = paragraph("");
    this.stages = figure(stageTimes(prediction));
    this.undrawn = element("p", { class: "soft", hidden: "" });
    this.place = section("Timeline", "The timeline of one step", this.undrawn);
    this.memory = figure(memoryPeaks(memory));
    this.notes = element("div", {});
    this.part.replaceChildren(
      this.lead,
      this.tiles,
      this.against,
      this.place,
      section("Memory", "What fills the memory", this.fullest, this.memory),
      section("Time", "Where the time of a step goes", this.losses, this.stages),
      section("Notes", "What to know before you rely on this", this.notes),
    );
    drawAll();
  }
}

/** The places that a refusal is about: the field that was changed last, and what the offered plans would change. */
function refusedPlaces(plan, offers, field) {
  const offered = offers.flatMap((one) => differences(plan, one.plan).map(({ place }) => place));
  return [...new Set([...(field === undefined ? [] : [field]), ...offered])];
}

/** The plan with each precision that the device has a rate for, where it has none for the plan's own; that of the plan before first. */
function otherPrecisions(plan, { "job.precision": known = [] }, before) {
  if (known.includes(plan.job.precision)) return [];
  const usual = before?.job.precision;
  const order = [...known.filter((name) => name === usual), ...known.filter((name) => name !== usual)];
  return order.map((precision) => ({ changes: `precision ${precision}`, plan: { ...plan, job: { ...plan.job, precision } } }));
}

class Explorer {
  constructor(parts, engine, choices) {
    this.engine = engine;
    this.status = parts.status;
    this.badge = parts.badge;
    this.followed = parts.followed;
    this.message = parts.message;
    this.bar = parts.bar;
    this.aside = parts.aside;
    this.main = parts.main;
    this.whole = parts.whole;
    this.steps = new Steps();
    this.panel = panel(choices, {
      changed: (plan, how) => this.want({ plan, ...how }),
      begun: (plan, field) => this.want({ plan, field }),
    });
    this.own = ownParts(choices, { engine, sight: () => this.plan, settled: () => this.settled, want: (wish) => this.want(wish) });
    this.results = new Results();
    this.further = element("div", {});
    this.trade = element("div", {});
    this.found = element("div", { class: "found" });
    this.search = button("Find the best plan", () => (this.searching ? this.endSearch() : this.tune()), true);
    const file = element("input", { type: "file", accept: ".yaml,.yml,.json", hidden: "" });
    file.addEventListener("change", async () => {
      const [opened] = file.files;
      if (opened) this.want({ text: await opened.text(), name: opened.name });
      file.value = "";
    });
    this.undo = button("Undo", () => history.back());
    this.redo = button("Redo", () => history.forward());
    this.pins = button("Pin as A", () => this.pin());
    const controls = element(
      "div",
      { class: "controls" },
      this.search,
      this.undo,
      this.redo,
      this.pins,
      button("Rule of thumb", () => this.want({ plan: this.job() })),
      button("Open a job or plan", () => file.click()),
      button("Save the plan", () => this.save()),
      button("Copy the link", () => this.copy()),
      file,
    );
    this.saved = savedPlans({ current: () => this.settled, open: (plan) => this.want({ plan }) });
    this.aside.replaceChildren(controls, this.found, this.own.aside, this.saved, this.panel.part);
    this.main.replaceChildren(
      this.own.ways,
      this.results.part,
      this.own.check,
      this.own.launch,
      this.trade,
      element(
        "div",
        { class: "controls" },
        button("Every picture of this plan", () => this.picture()),
      ),
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
      this.want(text === undefined ? { plan: kFirstJob, begins: true } : { text, name: kLinked, begins: true });
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
    const slow = setTimeout(() => this.status.replaceChildren("The planner is at work."), kSlow);
    while (this.wish) {
      const asked = this.wish;
      const { plan, text = JSON.stringify(plan), name = "the plan", settle = false } = asked;
      this.wish = undefined;
      const began = performance.now();
      const answer = await this.engine.ask({ ask: "predict", text, name, settle });
      clearTimeout(slow);
      const took = performance.now() - began;
      if (answer.error === undefined) await this.show(answer, asked);
      else this.refuse(answer.error, asked);
      if (!this.wish && answer.prediction)
        this.results.draw(await this.engine.ask({ ask: "timeline", text: JSON.stringify(this.settled), name }));
      document.documentElement.dataset.answered = took.toFixed(1); // milliseconds; for tests and the curious
    }
    this.thinking = false;
    delete document.documentElement.dataset.thinking;
  }

  /** What cannot be read leaves the pictures at the last plan that could; the field keeps what was typed until it is taken back. */
  refuse(error, { name, field }) {
    if (!this.plan) return this.say(name === kLinked ? `This link holds a plan that cannot be read: ${error}` : error, [this.first()]);
    const back = button("Go back to the plan before", () => {
      this.panel.show(this.plan, this.sizes);
      this.say();
      this.tell();
    });
    this.say(name === kLinked ? `This link holds a plan that cannot be read: ${error}` : error, [back]);
    if (field !== undefined) this.panel.refuse([field], error);
    return this.tell();
  }

  /**
   * Shows what the planner says of a plan.
   * @param {any} answer
   * @param {{field?: string, gesture?: number, begins?: boolean}} [wish]
   */
  async show(answer, { field, gesture, begins } = {}) {
    const before = this.plan;
    this.plan = answer.plan;
    this.sizes = answer.sizes;
    this.whole.hidden = false;
    this.settled = answer.settled ?? answer.plan; // with the order that `auto` found, which is searched for once
    this.panel.show(answer.plan, answer.sizes);
    this.own.show(answer);
    this.link = await linkOf(answer.plan);
    this.steps.write(this.link, { gesture, begins });
    this.undo.disabled = !this.steps.canUndo;
    this.redo.disabled = !this.steps.canRedo;
    this.tellFollowed(before, field);
    if (answer.refused) {
      const offers = [...answer.nearest, ...otherPrecisions(answer.plan, answer.sizes, before)];
      const message = `${answer.refused}.`;
      this.say(
        message,
        offers.map(({ changes, plan }) => button(`Take ${changes}`, () => this.want({ plan }))),
      );
      this.panel.refuse(refusedPlaces(answer.plan, offers, field), message);
      this.tell();
      return;
    }
    this.say();
    this.further.replaceChildren();
    this.results.show(answer);
    this.shown = answer;
    this.tell();
  }

  /** What followed a change of one field: another framework, say, brings its own defaults. */
  tellFollowed(before, field) {
    const others =
      before && field !== undefined
        ? differences(before, this.plan).filter(({ place }) => place !== field && !place.startsWith(`${field}.`))
        : [];
    const told = others.slice(0, kToldChanges).map(differenceText);
    const rest = others.length > told.length ? ` and ${others.length - told.length} more` : "";
    this.followed.hidden = others.length === 0;
    this.followed.textContent = `Changed with it: ${told.join("; ")}${rest}. Undo takes all of it back.`;
  }

  /** The line that stays in sight: figures of the plan in the pictures, and whether the framework runs it. */
  tell() {
    if (!this.shown) return this.status.replaceChildren("No plan is shown.");
    const { prediction, memory, not_run: notRun } = this.shown;
    const { step_time_s: step, tokens_per_s_per_device: tokens, fits } = prediction;
    this.status.replaceChildren(
      this.isStale ? "The plan before: " : "",
      `${time(step)} a step · ${count(tokens)} tokens/s of each GPU · `,
      element("span", { class: fits ? "good" : "bad" }, fitSentence(memory)),
    );
    return this.tellFramework(this.isStale ? undefined : notRun);
  }

  /** Says that the framework of the job cannot run the plan, and offers the nearest that it runs. */
  tellFramework(notRun) {
    this.badge.hidden = notRun === undefined || notRun.reasons.length === 0;
    this.badge.replaceChildren();
    if (this.badge.hidden) return;
    const { framework } = this.plan.job;
    const { reasons, offer, none } = notRun;
    this.badge.replaceChildren(
      element("strong", {}, `${framework?.variant || framework?.name || framework} cannot run this plan`),
      `: ${reasons.join("; ")}. `,
      offer ? button(`Use ${offer.changes}`, () => this.want({ plan: offer.plan })) : none && `${none}.`,
    );
  }

  /** Why the plan in the panel is not the one in the pictures; nothing where it is. */
  say(message, ways = []) {
    const focused = this.message.contains(document.activeElement);
    this.isStale = message !== undefined;
    this.message.hidden = !this.isStale;
    if (focused) this.search.focus(); // what had it is gone
    this.search.classList.toggle("primary", ways.length === 0);
    ways[0]?.classList.add("primary");
    if (!this.plan) this.status.replaceChildren("No plan is shown.");
    this.bar.classList.toggle("stale", this.isStale);
    this.main.classList.toggle("stale", this.isStale);
    this.message.replaceChildren(paragraph(message ?? ""), element("div", { class: "controls" }, ways));
  }

  /** Pins the plan in sight as A, or takes the pin away. */
  pin() {
    const { answer, drawn, pinned } = this.results;
    if (!answer) return;
    this.results.pin(pinned ? undefined : { answer, timeline: drawn });
    this.pins.textContent = pinned ? "Pin as A" : "Unpin A";
  }

  async tune() {
    this.searching = new Engine(this.engine.module);
    this.search.textContent = "Stop the search";
    this.found.replaceChildren(paragraph("The search has begun."));
    const tell = (state) => this.found.replaceChildren(...progress(state));
    const asked = JSON.stringify(this.job());
    const answer = await this.searching.ask({ ask: "tune", text: asked, name: "the job" }, tell);
    this.endSearch();
    if (answer.error !== undefined) return this.say(answer.error);
    const [best] = answer.plans;
    const same = asked === JSON.stringify(this.job()); // else the person has gone on to another job
    const line = (plan) =>
      element(
        "li",
        {},
        button(plan.code, () => this.want({ plan: plan.plan })),
        ` ${time(plan.step_time_s)}, ${bytes(plan.peak_memory_bytes)}`,
      );
    const families = answer.plans.filter(({ fits }) => fits).map((plan) => ({ ...plan, name: plan.code }));
    this.found.replaceChildren(
      paragraph(
        best.fits
          ? `The best of ${count(answer.legal)} legal plans${same ? "" : " of the job as it was when the search began"}, and the best of other families:`
          : noneFits(best),
      ),
      element("ol", {}, answer.plans.map(line)),
    );
    this.trade.replaceChildren(...(families.length > 1 ? [this.tradeOff(families)] : []));
    drawAll();
    return same && this.want({ plan: best.plan });
  }

  /** Time against memory of the plans that a search found; a point opens its plan. */
  tradeOff(plans) {
    const isBeaten = (plan) =>
      plans.some((other) => other.step_time_s < plan.step_time_s && other.peak_memory_bytes <= plan.peak_memory_bytes);
    const front = plans.filter((plan) => !isBeaten(plan)).sort((a, b) => a.step_time_s - b.step_time_s);
    const { capacity_bytes: capacity, reserve_bytes: reserve } = this.shown.memory;
    const open = (plan) => this.want({ plan: plan.plan });
    return section(
      "Trade-off",
      "Less memory for more time",
      figure(pareto({ front, others: plans.filter(isBeaten), usable: capacity - reserve, capacity, open })),
    );
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
      this.status.replaceChildren("The link to this plan is copied.");
    } catch {
      this.status.replaceChildren("This browser does not let the page copy. The address of the page is the link.");
    }
    setTimeout(() => this.tell(), kRead);
  }
}

export function explorePage({ engine: packed, engine_file: file }) {
  /** @type {Record<string, HTMLElement>} */
  const parts = {
    status: element("p", { class: "summary", role: "status" }, "The planner is being unpacked."),
    badge: element("p", { class: "badge", role: "status", hidden: "" }),
    followed: element("p", { class: "followed soft", role: "status", hidden: "" }),
    message: element("div", { class: "message", role: "alert", hidden: "" }),
    aside: element("div", { class: "aside", id: "controls" }),
    main: element("div", { class: "main" }),
  };
  parts.bar = element(
    "div",
    { class: "bar" },
    parts.status,
    parts.badge,
    parts.message,
    parts.followed,
    button("To the controls", () => parts.aside.scrollIntoView()),
  );
  parts.whole = element("div", { class: "explorer", hidden: "" }, parts.aside, parts.main);
  (async () => {
    const engine = new Engine(await (file ? fetched(file) : unpacked(packed)));
    const choices = await engine.ask({ ask: "choices" });
    if (choices.error !== undefined) throw new Error(choices.error);
    const explorer = new Explorer(parts, engine, choices);
    await explorer.open();
  })().catch((error) => parts.status.replaceChildren(`The planner cannot run in this browser: ${error.message}`));
  return [parts.bar, parts.whole];
}
