// Parts of a page.
import { choice, element } from "./dom.js";
import { figure } from "./figure.js";

/** A part with a heading; `short` is what the bar at the top calls it. */
export function section(short, title, ...children) {
  const id = short.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const made = element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title), ...children);
  made.short = short;
  return made;
}

/** The first figures of an answer: [{name, value, rest, against, kind}]. */
export const tiles = (list) =>
  element(
    "div",
    { class: "tiles" },
    list.map(({ name, value, rest, against, kind }) =>
      element(
        "div",
        { class: "tile" },
        element("div", { class: "name" }, name),
        element("div", { class: kind ? `value ${kind}` : "value" }, value),
        against && element("div", { class: "against" }, against),
        rest && element("div", { class: "rest" }, rest),
      ),
    ),
  );

/**
 * A figure of which one of several views is chosen: `view` {choices, draw(value), first}. The element
 * gets `renew(view)`, which keeps what is chosen where that is still there, unless its first choice is new.
 */
export function chosenFigure(label, view) {
  let shown = view;
  const pick = choice(label, [], (value) => made.change(shown.draw(value)));
  const select = pick.querySelector("select");
  const controls = element("div", { class: "controls" }, pick);
  const offer = ({ choices, first }, wanted) => {
    const there = [wanted, first].find((value) => choices.some((one) => one.value === value));
    select.replaceChildren(...choices.map(({ value, name }) => element("option", { value }, name)));
    select.value = there ?? choices[0].value;
    controls.hidden = choices.length === 1;
    return select.value;
  };
  const made = figure({ ...view.draw(offer(view)), controls });
  made.renew = (next) => {
    const isNew = next.first !== undefined && shown.choices.every(({ value }) => value !== next.first);
    shown = next;
    made.change(next.draw(offer(next, isNew ? next.first : select.value)));
  };
  return made;
}

export const notes = (list) =>
  list && list.length > 0
    ? section(
        "Notes",
        "What to know before you rely on this",
        element(
          "ul",
          {},
          list.map((note) => element("li", {}, note)),
        ),
      )
    : undefined;
