// Elements made of text, never of markup: what a file says cannot become part of the page.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

export const paragraph = (text, kind) => element("p", { class: kind }, text);

export const list = (items) =>
  element(
    "ul",
    {},
    items.map((item) => element("li", {}, item)),
  );

const kFew = 3;
const kUnnamed = "Row"; // read out where a column has no name to be seen

/**
 * Columns are {name, number}, rows are lists of cells; `best` marks a row. On a narrow screen rows of
 * many cells stand below each other, each cell beside the name of its column; roles are said, since
 * they are lost with the layout.
 * @param {import("./types").Table} given
 */
export function table({ caption, columns, rows, best }) {
  const kind = (column) => (column.number ? "number" : undefined);
  const head = element(
    "tr",
    { role: "row" },
    columns.map((column) =>
      element(
        "th",
        { scope: "col", role: "columnheader", class: kind(column) },
        column.name || element("span", { class: "unseen" }, kUnnamed),
      ),
    ),
  );
  const body = rows.map((row, i) =>
    element(
      "tr",
      { role: "row", class: i === best ? "best" : undefined },
      row.map((cell, j) => element("td", { role: "cell", class: kind(columns[j]), "data-name": columns[j].name }, cell ?? "")),
    ),
  );
  const parts = [
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, head),
    element("tbody", { role: "rowgroup" }, body),
  ];
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", { role: "table", class: columns.length > kFew && "many" }, parts),
  );
}

/** A choice among options [{value, name}]; calls `chosen` with the value. */
export function choice(label, options, chosen) {
  const select = element(
    "select",
    {},
    options.map(({ value, name }) => element("option", { value }, name)),
  );
  select.addEventListener("change", () => chosen(select.value));
  return element("label", {}, `${label} `, select);
}

/** What a chart shows when a mark is pointed at: a heading and lines of name and value. */
export function hint(heading, lines) {
  const box = element("div", {}, element("strong", {}, heading));
  for (const [name, value] of lines) box.append(element("div", {}, `${name}: ${value}`));
  return box;
}
