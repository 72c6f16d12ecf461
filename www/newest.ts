// Questions that are asked again before they are answered, and whose answers may overtake each other. Pure.

export class Newest {
  #asked = 0;
  #answered = 0;

  /** Asks. What is returned is called when the answer comes: whether no answer to a later question has come before. */
  ask(): () => boolean {
    this.#asked += 1;
    const asked = this.#asked;
    return () => {
      if (asked < this.#answered) return false;
      this.#answered = asked;
      return true;
    };
  }
}
