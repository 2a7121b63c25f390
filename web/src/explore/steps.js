// The steps of the browser's history: each change of a plan is one, so that Back undoes it.

export class Steps {
  constructor() {
    this.last = this.now;
    /** @type {number | undefined} */
    this.gesture = undefined;
  }

  get now() {
    return history.state?.step ?? 0;
  }

  get canUndo() {
    return this.now > 0;
  }

  get canRedo() {
    return this.now < this.last;
  }

  /**
   * Writes an address: a step of its own, unless it is of the same gesture as the one before, or the page `begins` with it.
   * @param {string} link
   * @param {{gesture?: number, begins?: boolean}} change
   */
  write(link, { gesture, begins = false }) {
    const again = gesture !== undefined && gesture === this.gesture;
    this.gesture = gesture;
    if (begins || again || link === location.hash) {
      history.replaceState({ step: this.now }, "", link);
      return;
    }
    this.last = this.now + 1;
    history.pushState({ step: this.last }, "", link);
  }
}
