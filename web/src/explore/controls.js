// What a person turns: words to choose among, numbers to type, sizes to drag.
import { element } from "../dom.js";

const labelled = (name, ...parts) => element("label", { class: "control" }, element("span", {}, name), ...parts);

/** One of some words: `show(word, options)` with options [{value, name}]. */
export function words(name, changed) {
  const select = element("select", { "aria-label": name });
  select.addEventListener("change", () => changed(select.value));
  return {
    part: labelled(name, select),
    show: (value, options) => {
      const there = options.some((option) => option.value === value) ? options : [{ value, name: value }, ...options];
      select.replaceChildren(...there.map((option) => element("option", { value: option.value }, option.name)));
      select.value = value;
    },
  };
}

/** A number that is typed: `show(number)`. */
export function number(name, changed) {
  const field = element("input", { type: "number", min: "1", step: "1", inputmode: "numeric", "aria-label": name });
  field.addEventListener("change", () => changed(Number(field.value)));
  return {
    part: labelled(name, field),
    show: (value) => {
      if (Number(field.value) !== value) field.value = value;
    },
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

/** Something to be done. */
export function button(name, done) {
  const made = element("button", { type: "button" }, name);
  made.addEventListener("click", done);
  return made;
}
