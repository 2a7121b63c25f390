// Plans that a person keeps by name in this browser.
import { element } from "../dom.js";
import { button } from "./controls.js";

const kPlace = "stepwright.plans";

/** The kept plans {name: plan}; none where the browser keeps nothing. */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(kPlace)) ?? {};
  } catch {
    return {};
  }
}

/** The part of the page that keeps plans: `current()` is the plan in sight, `open(plan)` shows one. */
export function savedPlans({ current, open }) {
  const name = element("input", { type: "text", "aria-label": "Name for the plan", placeholder: "name" });
  const list = element("ul", { class: "saved" });
  const told = element("p", { class: "soft", role: "status" });
  const write = (plans) => {
    try {
      localStorage.setItem(kPlace, JSON.stringify(plans));
      told.textContent = "";
    } catch {
      told.textContent = "This browser keeps nothing for this page; save the plan as a file instead.";
    }
    show();
  };
  const show = () => {
    const plans = kept();
    list.replaceChildren(
      ...Object.keys(plans).map((key) => {
        const drop = button("Delete", () => {
          const { [key]: gone, ...rest } = kept();
          write(rest);
        });
        drop.setAttribute("aria-label", `Delete ${key}`);
        return element(
          "li",
          {},
          button(key, () => open(plans[key])),
          " ",
          drop,
        );
      }),
    );
  };
  const keep = () => {
    const key = name.value.trim();
    if (key === "") {
      told.textContent = "Give the plan a name first.";
      name.focus();
      return;
    }
    write({ ...kept(), [key]: current() });
    name.value = "";
  };
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") keep();
  });
  show();
  return element(
    "details",
    { class: "group" },
    element("summary", {}, "Plans kept in this browser"),
    element("div", { class: "keep" }, name, button("Keep", keep)),
    told,
    list,
  );
}
