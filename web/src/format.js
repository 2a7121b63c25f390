// Numbers for people: three significant digits and a unit, as the command's own text has them.

const digits = (value) => {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
};

const scaled = (value, steps, zero = steps[0][1]) => {
  if (!Number.isFinite(value)) return "n/a";
  if (value === 0) return `0 ${zero}`;
  const [size, unit] = steps.find(([least]) => Math.abs(value) >= 0.9995 * least) ?? steps[steps.length - 1];
  return `${digits(value / size)} ${unit}`;
};

const kHour = 3600;
const kDay = 24 * kHour;

/** Seconds in the unit in which people say them. */
export const time = (seconds) =>
  scaled(
    seconds,
    [
      [kDay, "days"],
      [kHour, "h"],
      [1, "s"],
      [1e-3, "ms"],
      [1e-6, "µs"],
      [1e-9, "ns"],
    ],
    "s",
  );

export const bytes = (size) =>
  size > -1024 && size < 1024
    ? `${Math.round(size)} B`
    : scaled(size, [
        [2 ** 50, "PiB"],
        [2 ** 40, "TiB"],
        [2 ** 30, "GiB"],
        [2 ** 20, "MiB"],
        [2 ** 10, "KiB"],
      ]);

export const rate = (bytesPerSecond) =>
  scaled(
    bytesPerSecond,
    [
      [1e12, "TB/s"],
      [1e9, "GB/s"],
      [1e6, "MB/s"],
      [1e3, "kB/s"],
      [1, "B/s"],
    ],
    "GB/s",
  );

export const flops = (flopsPerSecond) =>
  scaled(flopsPerSecond, [
    [1e12, "TFLOP/s"],
    [1e9, "GFLOP/s"],
  ]);

export const count = (value) => Math.round(value).toLocaleString("en-US");

export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)}%` : "n/a");

/** A probability, as the command's text has it. */
export const probability = (share) => `${Math.round(100 * share)}%`;

/** Where the ticks of an axis of bytes are, a round number of binary units apart. */
export function byteTicks(least, most, parts = 5) {
  const rough = Math.max(most - least, 1) / parts;
  const unit = 1024 ** Math.floor(Math.log2(rough) / 10);
  const interval = unit * ([1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => step * unit >= rough) ?? 1024);
  return { min: Math.floor(least / interval) * interval, max: Math.ceil(most / interval) * interval, interval };
}

/** A difference as a percentage with its sign. */
export const change = (share) => `${share >= 0 ? "+" : "−"}${(100 * Math.abs(share)).toFixed(1)}%`;

export const plain = (value) => (Number.isInteger(value) ? count(value) : Number(value.toPrecision(3)).toString());

/** A word of a key as a person writes it. */
export const words = (key) => {
  const text = String(key).replaceAll("_", " ").replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};
