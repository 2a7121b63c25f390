import { element, paragraph } from "../dom.js";
import { section } from "../section.js";

/** An answer that no page draws yet: as it is. */
export const unknownPage = ({ answer }) => [section("Answer", "The answer", paragraph("As `--json` prints it."), element("pre", {}, JSON.stringify(answer, null, 2)))];
