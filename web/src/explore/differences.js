// What differs between two plans, choice by choice.
import { nameOf } from "./labels.js";

const isPart = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The values of a plan by their places in its file. */
function leaves(value, place = "", found = new Map()) {
  if (!isPart(value)) return found.set(place, value);
  for (const [key, part] of Object.entries(value)) leaves(part, place === "" ? key : `${place}.${key}`, found);
  return found;
}

const said = (value) => {
  if (value === undefined) return "not set";
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) ? value.join(", ") : String(value);
};

/** The choices in which two plans differ: [{place, name, before, after}], values as people read them. */
export function differences(before, after) {
  const [old, now] = [leaves(before), leaves(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((place) => ({ place, name: nameOf(place), before: said(old.get(place)), after: said(now.get(place)) }))
    .filter((one) => one.before !== one.after);
}

/** "Schedule 1f1b → zb-h1": one difference in words. */
export const differenceText = ({ name, before, after }) => `${name} ${before} → ${after}`;
