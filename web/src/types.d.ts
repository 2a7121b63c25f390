// Shapes of values that several modules of the page hand to each other, for the check of types.

/** Columns and rows of a table; `best` is the number of the row that is marked. */
export interface Table {
  caption: string;
  columns: { name: string; number?: boolean }[];
  rows: unknown[][];
  best?: number;
}

/** The colours that are right now, and those of a kind of time or memory. */
export interface Colours {
  ink: string;
  soft: string;
  line: string;
  paper: string;
  good: string;
  bad: string;
  list: string[];
  isDark: boolean;
  of(kind: string): string;
  waiting(kind: string): object;
}

export interface Part {
  key: string;
  name: string;
  colour(colours: Colours, value?: number): unknown;
}

export interface Row {
  name: string;
  values: Record<string, number>;
}

export interface Bars {
  label: string;
  rows: Row[];
  parts: Part[];
  text(value: number): string;
  unit: string;
  caption?: string;
  figures?: Table;
  stacked?: boolean;
  total?(row: Row): number;
  limits?: { name: string; value: number; colour(colours: Colours): string }[];
}

export interface Axis {
  name: string;
  text?(value: number): string;
  log?: boolean;
  base?: number;
  tight?: boolean;
  names?: string[];
}

export interface Lines {
  label: string;
  curves: { name: string; points: [number | string, number | null][]; dashed?: boolean }[];
  x: Axis;
  y: Axis;
  caption?: string;
  height?: number;
  figures?: Table;
  steps?: string;
}

/** A bar of a timeline, in seconds. */
export interface Bar {
  row: number;
  start: number;
  end: number;
  kind: string;
  share: number;
  work?: number;
  waits?: boolean;
  mark?: string | number;
  heading: string;
  lines(): [string, string][];
  stage?: number;
  lane?: string;
}

export interface View {
  name: string;
  start: number;
  end: number;
}

export interface Gantt {
  label: string;
  rows: string[];
  bars: Bar[];
  kinds: Record<string, string>;
  caption?: string;
  end: number;
  figures?: Table;
  zoomTo?: { start: number; end: number };
  views?: View[];
  inside?(bar: Bar): Table | undefined;
  timeName?: string;
}

/** What a figure shows (figure.js). */
export interface Spec {
  label: string;
  option(given: { colours: Colours; narrow: boolean; width: number; chart: any }): any;
  height: number | ((width: number, narrow: boolean, paper: boolean) => number);
  names?: string[];
  caption?: string;
  figures?: Table;
  controls?: Element;
  views?: View[];
  rows?: boolean;
  slider?: number;
  beside?(picture: Picture): Element[];
  clicked?(event: any, picture: Picture): void;
  pointed?(event: any, picture: Picture): void;
  key?(event: KeyboardEvent, picture: Picture): boolean;
  pinned?(picture: Picture): void;
}

export interface Picture {
  holder: HTMLElement;
  beside: HTMLElement;
  spec: Spec;
  keepZoom: boolean;
  zoom?: { start: number; end: number }[];
  chart?: any;
}

export interface Tile {
  name: string;
  value: string;
  rest?: string;
  against?: string;
  kind?: string;
}

/** A plan that is offered, and what it changes. */
export interface Offer {
  changes: string;
  plan: any;
}
