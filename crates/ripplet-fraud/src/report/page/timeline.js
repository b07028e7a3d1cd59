// The windows, oldest first: what became of clusters in each, and the life of the one that is chosen.

/** Lanes, from the top: clusters that are there, those that died, the life of the chosen one, dates. */
const BARS = { top: 6, height: 52 };
const DEAD = { top: 61, height: 14 };
const LIFE = { top: 84, height: 24 };
const DATES = 124;
const HIGH = 130;
const DATE_ROOM = 84;

function drawTimeline() {
  const host = byId('timeline');
  const width = Math.max(280, host.clientWidth);
  const step = Math.min(56, width / Math.max(1, doc.windows.length));
  const middle = (window) => (window + 0.5) * step;
  const alive = doc.events.map((event, at) => at).filter((at) => doc.events[at].key !== 'died');
  const died = doc.events.findIndex((event) => event.key === 'died');
  const sums = doc.windows.map(({ events }) => alive.reduce((sum, at) => sum + events[at], 0));
  const most = Math.max(1, ...sums);
  const mostDead = Math.max(1, ...doc.windows.map(({ events }) => events[died] ?? 0));

  const columns = doc.windows.map((window, at) => {
    const bars = [];
    const wide = Math.max(1, step - Math.min(6, step * 0.25));
    const x = middle(at) - wide / 2;
    let bottom = BARS.top + BARS.height;
    for (const event of alive) {
      const high = (window.events[event] / most) * BARS.height;
      if (high === 0) continue;
      bottom -= high;
      bars.push(drawn('rect', { class: `event-${doc.events[event].key}`, x, y: bottom, width: wide, height: high }));
    }
    const dead = ((window.events[died] ?? 0) / mostDead) * DEAD.height;
    if (dead > 0) bars.push(drawn('rect', { class: 'event-died', x, y: DEAD.top, width: wide, height: dead }));
    const told = doc.events
      .map(({ name }, event) => (window.events[event] ? `${name} ${grouped.format(window.events[event])}` : null))
      .filter(Boolean);
    const title = `${rangeOf(window)}: ${[counted(window.clusters, 'cluster'), ...told].join(', ')}`;
    return drawn(
      'g',
      { class: 'window', 'data-window': at, role: 'option', 'aria-selected': String(at === state.window), id: `window-${at}`, 'aria-label': title },
      drawn('title', {}, title),
      drawn('rect', { class: 'hit', x: middle(at) - step / 2, y: 0, width: step, height: HIGH }),
      ...bars,
    );
  });

  const line = BARS.top + BARS.height + 1.5;
  const picture = drawn(
    'svg',
    { viewBox: `0 0 ${width} ${HIGH}`, width, height: HIGH, role: 'presentation' },
    drawn('line', { class: 'axis', x1: 0, x2: width, y1: line, y2: line }),
    ...columns,
    ...ticks(step, middle, width),
    ...life(middle, step),
  );
  host.replaceChildren(picture);
  host.setAttribute('aria-activedescendant', `window-${state.window}`);
}

/** The last days of as many windows as there is room for. */
function ticks(step, middle, width) {
  const last = doc.windows.length - 1;
  const every = Math.max(1, Math.ceil(DATE_ROOM / step));
  const inside = (at) => Math.max(DATE_ROOM / 2 - 6, Math.min(width - DATE_ROOM / 2 + 6, middle(at)));
  return doc.windows
    .map((window, at) => ({ window, at, x: inside(at) }))
    .filter(({ at, x }) => (last - at) % every === 0 && (at === last || inside(last) - x >= DATE_ROOM))
    .map(({ window, at, x }) => {
      const attributes = { class: at === state.window ? 'tick now' : 'tick', x, y: DATES, 'text-anchor': 'middle' };
      return drawn('text', attributes, lastOf(window.until).slice(0, 10));
    });
}

/** The chosen cluster's score in each window, a dot as large as its size. */
function life(middle, step) {
  if (!state.cluster) return [];
  const history = historyOf(state.cluster);
  const scores = history.map(({ score }) => score);
  const [low, high] = [Math.min(0, ...scores), Math.max(...scores)];
  const largest = Math.max(...history.map(({ size }) => size), 1);
  const y = ({ score }) => LIFE.top + 4 + (high > low ? 1 - (score - low) / (high - low) : 0.5) * (LIFE.height - 8);
  const points = history.map((row) => `${middle(row.window)},${y(row)}`).join(' ');
  const dots = history.map((row) => {
    const r = Math.max(2, Math.min(step * 0.4, 2.5 + 4 * Math.sqrt(row.size / largest)));
    const title = `${row.id}, ${rangeOf(doc.windows[row.window])}: ${doc.events[row.event].name}, score ${written(row.score, doc.score.form)}, ${counted(row.size, 'member')}`;
    const circle = { class: `dot event-${doc.events[row.event].key}`, cx: middle(row.window), cy: y(row), r };
    return drawn('circle', circle, drawn('title', {}, title));
  });
  const begin = middle(history[0].window);
  const label = { class: 'tick', y: y(history[0]) + 4, 'text-anchor': begin > 120 ? 'end' : 'start' };
  const beside = begin > 120 ? begin - 12 : middle(history.at(-1).window) + 12;
  return [drawn('polyline', { class: 'life', points }), ...dots, drawn('text', { ...label, x: beside }, shortened(state.cluster))];
}

function drawLegend() {
  const window = doc.windows[state.window];
  const entries = doc.events.map((event, at) =>
    make(
      'li',
      { title: event.rule },
      make('span', { class: `swatch event-${event.key}`, 'aria-hidden': 'true' }),
      event.name,
      make('b', {}, grouped.format(window.events[at] ?? 0)),
    ),
  );
  byId('legend').replaceChildren(...entries);
}

function listenToTimeline() {
  const host = byId('timeline');
  host.onclick = (event) => {
    const column = event.target.closest('[data-window]');
    if (column) chooseWindow(Number(column.dataset.window));
  };
  host.onkeydown = (event) => {
    const last = doc.windows.length - 1;
    const to = { ArrowLeft: state.window - 1, ArrowRight: state.window + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    chooseWindow(Math.max(0, Math.min(last, to)));
  };
  new ResizeObserver(drawTimeline).observe(host);
}
