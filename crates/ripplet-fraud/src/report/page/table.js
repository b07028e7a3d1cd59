// A table of any length: only the rows in view are elements. Sorts by its headers, and is walked with keys.

const ROW = 34;
const BEYOND = 12;
/** Rows that are printed: a page has no scroll bar. */
const PRINTED = 60;

class LongTable {
  /**
   * `columns` have `key`, `title`, `hint`, `value(row)` to sort by, `cell(row)` to show, `figure` for
   * numbers, `first: 'down'` where large values come first, `prepare(rows)` to look at all rows before they are
   * shown, and `hidden` for what only a saved file has.
   */
  constructor({ host, label, columns, keyOf, sort, chosen, opened, empty }) {
    const shown = columns.filter(({ hidden }) => !hidden);
    Object.assign(this, { host, columns: shown, saved: columns, keyOf, sort, chosen, opened, empty });
    this.rows = [];
    this.order = [];
    this.key = null;
    this.heads = shown.map((column) => this.head(column));
    this.body = make('tbody');
    this.table = make(
      'table',
      { role: 'grid', 'aria-label': label },
      make('thead', {}, make('tr', { 'aria-rowindex': 1 }, ...this.heads)),
      this.body,
    );
    host.replaceChildren(this.table);
    host.tabIndex = 0;
    host.onscroll = () => this.draw();
    host.onkeydown = (event) => this.pressed(event);
    new ResizeObserver(() => this.draw()).observe(host);
  }

  head(column) {
    const button = make('button', { type: 'button', tabindex: -1, onclick: () => this.sortBy(column) }, column.title);
    const attributes = { scope: 'col', title: column.hint, class: column.figure ? 'figures' : null };
    return make('th', { ...attributes, 'data-key': column.key }, button);
  }

  show(rows) {
    this.rows = rows;
    this.columns.forEach((column) => column.prepare?.(rows));
    this.reorder();
  }

  sortBy(column) {
    const first = column.first ?? 'up';
    const other = first === 'up' ? 'down' : 'up';
    const again = this.sort.key === column.key && this.sort.direction === first;
    this.sort = { key: column.key, direction: again ? other : first };
    this.reorder();
    announce(`Sorted by ${column.title}, ${this.sort.direction === 'up' ? 'ascending' : 'descending'}`);
  }

  reorder() {
    const column = this.columns.find(({ key }) => key === this.sort.key) ?? this.columns[0];
    const sign = this.sort.direction === 'down' ? -1 : 1;
    const values = this.rows.map(column.value);
    this.order = this.rows.map((_, at) => at);
    this.order.sort((a, b) => compared(values[a], values[b], sign) || a - b);
    this.heads.forEach((head, at) => {
      const sorted = this.columns[at] === column;
      const way = sign > 0 ? 'ascending' : 'descending';
      if (sorted) head.setAttribute('aria-sort', way);
      else head.removeAttribute('aria-sort');
    });
    this.table.setAttribute('aria-rowcount', this.rows.length + 1);
    this.draw(true);
  }

  /** Marks the row with this key, and brings it into view. */
  select(key, intoView = true) {
    this.key = key;
    if (intoView) this.reveal(this.place());
    this.draw(true);
  }

  place() {
    return this.order.findIndex((at) => this.keyOf(this.rows[at]) === this.key);
  }

  reveal(place) {
    if (place < 0) return;
    const head = this.heads[0].offsetHeight;
    const [top, room] = [place * ROW, this.host.clientHeight - head];
    if (top < this.host.scrollTop) this.host.scrollTop = top;
    else if (top + ROW > this.host.scrollTop + room) this.host.scrollTop = top + ROW - room;
  }

  draw(anew = false) {
    const { host, order } = this;
    const room = Math.ceil(host.clientHeight / ROW);
    const top = Math.min(Math.floor(host.scrollTop / ROW), Math.max(0, order.length - room));
    let [from, until] = [Math.max(0, top - BEYOND), Math.min(order.length, top + room + BEYOND)];
    if (printing) [from, until] = [0, Math.min(order.length, PRINTED)];
    if (!anew && from === this.from && until === this.until) return;
    [this.from, this.until] = [from, until];
    const rows = order.slice(from, until).map((at, offset) => this.row(this.rows[at], from + offset));
    this.body.replaceChildren(this.gap(from), ...rows, this.gap(printing ? 0 : order.length - until));
    if (order.length === 0) this.body.replaceChildren(this.nothing());
    if (printing && until < order.length) this.body.append(this.unprinted(until));
    const active = this.body.querySelector('[aria-selected=true]');
    if (active) host.setAttribute('aria-activedescendant', active.id);
    else host.removeAttribute('aria-activedescendant');
  }

  row(row, place) {
    const key = this.keyOf(row);
    const cells = this.columns.map((column) =>
      make('td', { class: column.figure ? 'figures' : null, role: 'gridcell' }, column.cell(row)),
    );
    return make(
      'tr',
      {
        id: `${this.host.id}-${place}`,
        'aria-rowindex': place + 2,
        'aria-selected': key === this.key ? 'true' : 'false',
        'data-key': key,
        onclick: () => this.choose(row),
      },
      ...cells,
    );
  }

  gap(rows) {
    const gap = make('tr', { class: 'gap', 'aria-hidden': 'true' }, make('td', { colspan: this.columns.length }));
    gap.style.height = `${rows * ROW}px`;
    return gap;
  }

  nothing() {
    return make('tr', { class: 'nothing' }, make('td', { colspan: this.columns.length }, this.empty));
  }

  unprinted(printed) {
    const sentence = `The first ${grouped.format(printed)} of ${grouped.format(this.order.length)} rows are printed.`;
    return make('tr', { class: 'nothing' }, make('td', { colspan: this.columns.length }, sentence));
  }

  choose(row) {
    this.key = this.keyOf(row);
    this.draw(true);
    this.chosen(row);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.order.length - 1;
    const page = Math.max(1, Math.floor(this.host.clientHeight / ROW) - 2);
    const here = this.place();
    const to = {
      ArrowDown: here + 1,
      ArrowUp: here < 0 ? 0 : here - 1,
      PageDown: here + page,
      PageUp: here - page,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === 'Enter' && here >= 0 && this.opened) {
      event.preventDefault();
      this.opened(this.rows[this.order[here]]);
    }
    if (to === undefined || last < 0) return;
    event.preventDefault();
    const place = Math.max(0, Math.min(last, to));
    this.choose(this.rows[this.order[place]]);
    this.reveal(place);
    this.draw(true);
  }
}

/** Numbers by value, text as people sort it, and what is missing behind all else either way. */
function compared(a, b, sign) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;
  if (typeof a === 'number') return sign * (a - b);
  return sign * collator.compare(a, b);
}

const collator = new Intl.Collator('en', { numeric: true });
