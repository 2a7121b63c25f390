// What a person turns: words to choose among, numbers and lists to type, sizes to drag.
import { element } from "../dom.js";

const labelled = (name, ...parts) => element("label", { class: "control" }, element("span", {}, name), ...parts);

/** One of some words: `show(word, options)` with options [{value, name, text}]; the text of the chosen one stands below. */
export function words(name, changed) {
  const select = element("select", { "aria-label": name });
  const told = element("small", { class: "soft" });
  select.addEventListener("change", () => changed(select.value));
  const part = labelled(name, select, told);
  part.classList.add("wide");
  return {
    part,
    show: (value, options) => {
      const there = options.some((option) => option.value === value) ? options : [{ value, name: value }, ...options];
      select.replaceChildren(...there.map((option) => element("option", { value: option.value }, option.name)));
      select.value = value;
      told.textContent = there.find((option) => option.value === value)?.text ?? "";
    },
  };
}

/** A field whose text is taken once it is left or Enter is pressed; one that is left empty is as before, unless it may be `empty`. */
function typed(name, attributes, changed, empty = false) {
  const field = element("input", { ...attributes, "aria-label": name });
  let shown = "";
  field.addEventListener("change", () => {
    if (field.value.trim() === "" && !empty) field.value = shown;
    else changed(field.value.trim());
  });
  return {
    part: labelled(name, field),
    show: (value) => {
      shown = String(value);
      if (field.value !== shown) field.value = shown;
    },
  };
}

/** A number that is typed: `show(number)`. */
export const number = (name, changed) =>
  typed(name, { type: "number", min: "0", step: "any", inputmode: "decimal" }, (value) => changed(Number(value)));

/** A release, of which 0.10 is not 0.1: `show(text)`; it may be empty. */
export const release = (name, changed, attributes) => typed(name, { type: "text", spellcheck: "false", ...attributes }, changed, true);

/**
 * Whatever has no control of its own: `show(value)`. What is no JSON is a word, or numbers in a row.
 * @param {string} name
 * @param {(value: any) => void} changed
 * @param {{empty?: boolean, placeholder?: string, title?: string}} given
 */
export function text(name, changed, { empty = false, ...attributes } = {}) {
  const read = (value) => {
    if (/^\d+([ ,]+\d+)+$/.test(value)) return value.split(/[ ,]+/).map(Number);
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  };
  const field = typed(
    name,
    { type: "text", spellcheck: "false", ...attributes },
    (value) => changed(value === "" ? undefined : read(value)),
    empty,
  );
  const flat = (value) => Array.isArray(value) && value.every((each) => typeof each === "number");
  return {
    part: field.part,
    show: (value) => field.show(flat(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value)),
  };
}

/** A size that is dragged among those that a plan can have: `show(size, sizes)`. */
export function size(name, changed) {
  let sizes = [1];
  const slider = element("input", { type: "range", min: "0", step: "1", "aria-label": name });
  const told = element("output", {});
  const say = () => {
    told.textContent = sizes[slider.value];
    slider.setAttribute("aria-valuetext", sizes[slider.value]);
  };
  slider.addEventListener("input", () => {
    say();
    changed(sizes[slider.value]);
  });
  return {
    part: labelled(name, slider, told),
    show: (value, possible) => {
      sizes = [...new Set([...possible, value])].sort((a, b) => a - b);
      slider.max = sizes.length - 1;
      slider.value = sizes.indexOf(value);
      slider.disabled = sizes.length === 1;
      say();
    },
  };
}

/** Yes or no: `show(yes)`. */
export function flag(name, changed) {
  const box = element("input", { type: "checkbox", "aria-label": name });
  box.addEventListener("change", () => changed(box.checked));
  return {
    part: labelled(name, box),
    show: (value) => {
      box.checked = value;
    },
  };
}

/** Which of some words, [{value, name}]: `show(list of values)`. */
export function several(name, options, changed) {
  const boxes = options.map(({ value, name: word }) => {
    const box = flag(word, () => changed(boxes.filter((each) => each.input.checked).map((each) => each.value)));
    const input = box.part.querySelector("input");
    input.setAttribute("aria-label", `${name}: ${word}`);
    input.dataset.value = value; // as plan files call it
    return { value, input, ...box };
  });
  return {
    part: element(
      "div",
      { class: "several", role: "group", "aria-label": name },
      element("span", { class: "several-name" }, name),
      boxes.map(({ part }) => part),
    ),
    show: (values) => boxes.forEach((box) => box.show(values.includes(box.value))),
  };
}

/** Something to be done; `primary` is what most people want here. */
export function button(name, done, primary = false) {
  const made = element("button", { type: "button", class: primary && "primary" }, name);
  made.addEventListener("click", done);
  return made;
}
