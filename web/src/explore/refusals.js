// The fields that a refusal is about: marked, with the reason beside them.
import { element } from "../dom.js";

/** True for a field of a part of what stands at a place, or of what that is a part of. */
const isNear = (field, place) => field.startsWith(`${place}.`) || place.startsWith(`${field}.`);

export class Refusals {
  constructor() {
    this.fields = []; // [place, part]
    this.marked = [];
  }

  add(place, part) {
    this.fields.push([place, part]);
  }

  /** Marks the fields of these places; the reason stands beside the first. */
  mark(places, message) {
    this.clear();
    const parts = [...new Set(places.flatMap((place) => this.partsOf(place)))];
    const reason = element("span", { class: "reason", id: "reason" }, message);
    for (const part of parts) {
      part.classList.add("refused");
      for (const input of part.querySelectorAll("input, select")) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", reason.id);
      }
    }
    parts[0]?.append(reason);
    this.marked = parts;
    this.reason = reason;
  }

  /** The field of a place; without one of its own, those near it. */
  partsOf(place) {
    const shown = this.fields.filter(([, part]) => !part.hidden);
    const own = shown.filter(([field]) => field === place);
    return (own.length > 0 ? own : shown.filter(([field]) => isNear(field, place))).map(([, part]) => part);
  }

  clear() {
    for (const part of this.marked) {
      part.classList.remove("refused");
      for (const input of part.querySelectorAll("[aria-invalid]")) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
    }
    this.reason?.remove();
    this.marked = [];
  }
}
