// What if one thing were different: the change of the throughput.
import { bytes, change, count, time } from "../format.js";
import { bars } from "./bars.js";

export function sensitivity({ now, changes }) {
  const known = changes.filter((one) => one.step_time_s !== undefined);
  const gain = (one) => one.tokens_per_s / now.tokens_per_s - 1;
  const remark = (one) => {
    if (one.refused) return one.refused;
    if (!one.fits) return "does not fit in memory";
    return one.searched ? "with the plan that is best then" : "with this plan";
  };
  return bars({
    label: "Change of the throughput if one thing were different",
    rows: known.map((one) => ({ name: one.what + (one.fits ? "" : " (does not fit)"), values: { gain: gain(one) } })),
    parts: [{ key: "gain", name: "Tokens per second", colour: (colours, value) => (value >= 0 ? colours.good : colours.bad) }],
    text: change,
    unit: "tokens per second of the whole cluster",
    total: (row) => row.values.gain,
    figures: {
      caption: "What if",
      columns: [
        { name: "If" },
        { name: "--set" },
        { name: "Step", number: true },
        { name: "Tokens/s", number: true },
        { name: "Change", number: true },
        { name: "Memory", number: true },
        { name: "" },
      ],
      rows: [
        ["As it is", "", time(now.step_time_s), count(now.tokens_per_s), "", bytes(now.peak_memory_bytes), ""],
        ...changes.map((one) =>
          one.refused
            ? [one.what, one.set, "", "", "", "", remark(one)]
            : [
                one.what,
                one.set,
                time(one.step_time_s),
                count(one.tokens_per_s),
                change(gain(one)),
                bytes(one.peak_memory_bytes),
                remark(one),
              ],
        ),
      ],
    },
  });
}
