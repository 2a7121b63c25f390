// What a plan computes again in its backward passes: of every stage, and of stages that differ.
import { element } from "../dom.js";
import { button, number, several, words } from "./controls.js";

const called = (list, label) => list.map(({ name }) => ({ value: name, name: label(name) }));

/** A setting as its parts; `every` and `modules` of a word as of plan files. */
function opened(setting) {
  if (typeof setting === "string") return { kind: setting, every: 1, first: 0, modules: [], stages: {} };
  const { every = 1, first = 0, modules = [], stages = {} } = setting;
  const whole = first > 0 || every > 1 ? "every" : "full";
  const kind = modules.length > 0 ? "modules" : first === 0 && setting.every === undefined ? "none" : whole;
  return { kind, every, first, modules, stages };
}

/** The parts as plan files have them. */
function closed({ kind, every, first, modules, stages }) {
  const few = Object.keys(stages).length > 0 ? { stages } : {};
  const some = first > 0 ? { first } : every > 1 ? { every } : {};
  if (kind === "modules") return { modules, ...some, ...few };
  if (kind === "every") return { ...(first > 0 ? { first } : { every }), ...few };
  if (!few.stages) return kind;
  // Beside stages these words have no place of their own.
  if (kind === "full") return { every: 1, ...few };
  return kind === "selective" ? { modules: ["core_attn"], ...few } : few;
}

/** Of one position or of all. */
function setting(name, control, label, changed) {
  let shown = opened("none");
  const change = (part) => changed(closed({ ...shown, ...part }));
  const modules = control.modules.map(({ name: module }) => module);
  const kind = words(name, (value) =>
    change({
      kind: value,
      every: value === "every" ? Math.max(shown.every, 2) : 1,
      first: 0,
      modules: value === "modules" ? [modules[0]] : [],
    }),
  );
  const every = number(`${name} every nth layer`, (value) => change({ every: value, first: 0 }));
  const first = number(`${name} first layers of a chunk`, (value) => change({ every: 1, first: value }));
  const which = several(`${name} modules`, called(control.modules, label), (list) =>
    change(list.length > 0 ? { modules: list } : { kind: "none", modules: [], every: 1, first: 0 }),
  );
  return {
    part: element("div", {}, kind.part, every.part, first.part, which.part),
    show: (value) => {
      shown = opened(value);
      kind.show(shown.kind, called(control.words, label));
      every.show(shown.every);
      first.show(shown.first);
      which.show(shown.modules);
      const some = ["every", "modules"].includes(shown.kind);
      every.part.hidden = !some || shown.first > 0;
      first.part.hidden = !some;
      which.part.hidden = shown.kind !== "modules";
    },
  };
}

/** `show(value, positions)` of the plan's `recompute`, with as many positions as the pipeline has. */
export function recompute(name, control, label, changed) {
  let shown = opened("none");
  const all = setting(name, control, label, (value) => changed(closed({ ...opened(value), stages: shown.stages })));
  const list = element("div", {});
  const setStages = (stages) => changed(closed({ ...shown, stages }));
  const more = words("Recompute otherwise in stage", (position) =>
    setStages({ ...shown.stages, [position]: shown.kind === "none" ? "full" : "none" }),
  );
  const own = new Map();
  const stage = (position) => {
    const made = setting(`${name} of stage ${position}`, control, label, (next) => setStages({ ...shown.stages, [position]: next }));
    const drop = button(`Stage ${position} as the others`, () => {
      const { [position]: gone, ...rest } = shown.stages;
      setStages(rest);
    });
    return { show: made.show, part: element("div", { class: "stage" }, made.part, drop) };
  };
  const showStages = () => {
    const wanted = Object.keys(shown.stages);
    if (wanted.join() !== [...own.keys()].join()) {
      own.clear();
      for (const position of wanted) own.set(position, stage(position));
      list.replaceChildren(...[...own.values()].map(({ part }) => part));
    }
    for (const [position, made] of own) made.show(shown.stages[position]);
  };
  return {
    part: element("div", {}, all.part, list, more.part),
    show: (value, count) => {
      shown = opened(value);
      all.show(closed({ ...shown, stages: {} }));
      showStages();
      const free = [...Array(count).keys()].filter((position) => !(position in shown.stages));
      more.part.hidden = count < 2 || free.length === 0;
      more.show("", [{ value: "", name: "none" }, ...free.map((position) => ({ value: position, name: `stage ${position}` }))]);
    },
  };
}
