// Reads what the command wrote into the page, and draws it.
import { element } from "./dom.js";
import { drawAll } from "./figure.js";
import { diagnosePage } from "./pages/diagnose.js";
import { explorePage } from "./pages/explore.js";
import { interleavePage } from "./pages/interleave.js";
import { characterizePage, comparePage } from "./pages/logs.js";
import { predictPage } from "./pages/predict.js";
import { studyPage } from "./pages/study.js";
import { tunePage } from "./pages/tune.js";
import { validatePage } from "./pages/validate.js";

const pages = {
  serve: explorePage,
  tune: tunePage,
  predict: predictPage,
  study: studyPage,
  interleave: interleavePage,
  validate: validatePage,
  characterize: characterizePage,
  compare: comparePage,
  diagnose: diagnosePage,
};

function show(content) {
  const parts = pages[content.command](content).filter(Boolean);
  const sections = parts.filter((part) => part.short);
  document.title = `${content.title} · stepwright ${content.command}`;
  const shown = [
    element("header", {}, element("div", { class: "brand" }, `stepwright ${content.command}`), element("h1", {}, content.title)),
    sections.length > 0 &&
      element(
        "nav",
        { "aria-label": "Parts of this report" },
        sections.map((part) => element("a", { href: `#${part.id}` }, part.short)),
      ),
    ...parts,
  ];
  document.getElementById("page").replaceChildren(...shown.filter(Boolean));
  drawAll();
  document.documentElement.dataset.drawn = "yes";
}

show(JSON.parse(document.getElementById("content").textContent));
