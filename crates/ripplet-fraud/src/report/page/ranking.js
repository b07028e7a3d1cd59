// The clusters of the chosen window: sorted, filtered, searched.

/** More than any rank. */
const BEHIND_ALL = 2 ** 32;

function makeRanking() {
  // From the lowest score of a window to its highest; an empty bar says least, not nothing.
  const bounds = memoized((window) => {
    const scores = rowsOf(window).map(({ score }) => score);
    return [scores.reduce((a, b) => Math.min(a, b), Infinity), scores.reduce((a, b) => Math.max(a, b), -Infinity)];
  });
  const place = (score) => {
    const [low, high] = bounds(state.window);
    return high > low ? 0.08 + (0.92 * (score - low)) / (high - low) : 1;
  };
  tables.ranking = new LongTable({
    host: byId('ranking'),
    label: 'Suspicious clusters',
    keyOf: (row) => row.id,
    sort: { key: 'rank', direction: 'up' },
    chosen: (row) => chooseCluster(row.id),
    opened: () => byId('graph').focus(),
    empty: 'No cluster matches.',
    columns: [
      {
        key: 'rank',
        title: 'Rank',
        hint: 'Place in this window’s ranking by score; noise is listed behind all others',
        figure: true,
        value: ({ rank, noise }) => rank + (noise ? BEHIND_ALL : 0),
        cell: ({ rank }) => grouped.format(rank),
      },
      { key: 'id', title: 'Cluster', hint: 'Its id, which it keeps from window to window', value: ({ id }) => id, cell: clusterCell },
      {
        key: 'score',
        title: doc.score.name,
        hint: `${doc.score.meaning} ${doc.score.formula}`,
        figure: true,
        first: 'down',
        value: ({ score }) => score,
        cell: ({ score, noise }) => {
          const cell = meter(place(score), written(score, doc.score.form));
          if (noise) cell.classList.add('of-noise');
          return cell;
        },
      },
      {
        key: 'chance',
        title: doc.chance.name,
        hint: `${doc.chance.meaning} ${doc.chance.formula}`,
        figure: true,
        value: ({ chance }) => chance,
        cell: ({ chance }) => written(chance, doc.chance.form),
      },
      { key: 'size', title: 'Size', hint: 'Members of the cluster', figure: true, first: 'down', value: ({ size }) => size, cell: ({ size }) => grouped.format(size) },
      { key: 'known', title: 'Bad', hint: 'Members on the black list when the window ended', figure: true, first: 'down', value: ({ known }) => known, cell: ({ known }) => grouped.format(known) },
      ...doc.scores.map((score, at) => scoreColumn(score, at)),
    ],
  });
}

function clusterCell(row) {
  const match = state.matches?.get(row.id);
  return make('span', { class: 'cluster' }, idText(row.id), match !== undefined ? make('small', {}, '∋ ', ...namedEntity(match)) : row.noise ? noiseBadge() : badge(row.event));
}

/** Lists the clusters of the chosen window that the search and the filters let through. */
function showRanking() {
  const text = state.query.trim().toLowerCase();
  state.matches = text ? clustersWith(state.window, text) : null;
  const all = rowsOf(state.window);
  const rows = all.filter(
    (row) =>
      (state.event === null || row.event === state.event) &&
      row.size >= state.least &&
      !(state.withoutNoise && row.noise) &&
      (!text || row.id.toLowerCase().includes(text) || state.matches.has(row.id)),
  );
  tables.ranking.empty = all.length === 0 ? 'No clusters were found in this window.' : 'No cluster matches.';
  tables.ranking.show(rows);
  const { clusters, too_large: large } = doc.windows[state.window];
  const less = all.length < clusters ? `; this file lists the first ${grouped.format(all.length)}` : '';
  const larger = large ? `; ${counted(large, 'group')} with too many members left out (--max-size)` : '';
  if (state.list === 'entities') showScored();
  else byId('listed').textContent = `${grouped.format(rows.length)} of ${counted(clusters, 'cluster')}${less}${larger}`;
}

/** An entity's id, and its kind if there are several. */
function namedEntity(entity) {
  const name = idText(doc.entities.id[entity]);
  return hasKinds() ? [`${kindOf(doc.entities.kind[entity])} `, name] : [name];
}

/** Entities, and clusters, that are listed at most. */
const FOUND = 12;

/** Lists the entities and clusters of any window that the search finds, with their windows. */
function showFound(text) {
  const { first, count } = text ? entitiesWith(text, FOUND) : { first: [], count: 0 };
  const named = text ? clustersNamed(text) : [];
  // The ranking beside has those of the chosen window.
  const elsewhere = named.filter(({ id, exact }) => exact || clusterIn(state.window, id) === null);
  const clusters = elsewhere.slice(0, FOUND).map(foundCluster);
  const entities = first.map((entity) => foundEntity(entity, text));
  const exact = ({ exact: is }) => is;
  state.results = [...clusters.filter(exact), ...entities, ...clusters.filter((one) => !one.exact)];
  const more = [
    [count - first.length, 'other entity', 'other entities'],
    [elsewhere.length - clusters.length, 'other cluster', 'other clusters'],
  ];
  const others = more.filter(([number]) => number > 0).map(([number, one, many]) => make('li', {}, `and ${counted(number, one, many)}`));
  const none = count + named.length === 0 ? [make('li', {}, 'No entity of any window in this file has such an id.')] : [];
  byId('found').replaceChildren(...state.results.map(({ line }) => line), ...others, ...none, ...leftOutOfSearch());
  byId('found').hidden = !text;
}

/** The window of a stretch to go to: the chosen one if it is in it, or the newest. */
function windowOf({ from, until }) {
  return from <= state.window && state.window <= until ? state.window : until;
}

/** The one of some stretches to go to: one in a cluster before others, then that with the chosen window, or the newest. */
function nearestOf(stretches) {
  const inClusters = stretches.filter(({ cluster }) => cluster !== null);
  const among = inClusters.length > 0 ? inClusters : stretches;
  return among.find(({ from, until }) => from <= state.window && state.window <= until) ?? among[0];
}

/** Stretches, each a button that goes there, newest first. */
function stretchButtons(stretches, textOf, go) {
  const button = (one) => make('button', { type: 'button', class: 'link', onclick: () => go(one) }, textOf(one));
  const buttons = stretches.slice(0, FOUND).flatMap((one, at) => (at === 0 ? [button(one)] : [', ', button(one)]));
  const rest = stretches.length - FOUND;
  return rest > 0 ? [...buttons, `, and ${counted(rest, 'earlier stretch', 'earlier stretches')}`] : buttons;
}

function foundCluster({ id, exact, stretches }) {
  const go = (one) => chooseCluster(id, windowOf(one));
  const line = make('li', {}, idText(id), ' cluster ', ...stretchButtons(stretches, windowsText, go));
  return { line, exact, go: () => go(nearestOf(stretches)) };
}

function foundEntity(entity, text) {
  const stretches = stretchesOf(entity);
  const go = (one) => chooseEntity(entity, one);
  const since = knownSince(entity);
  const standing = since ?? unheldReasons().get(entity) ?? null;
  const line = make(
    'li',
    {},
    idText(doc.entities.id[entity]),
    ` ${kindOf(doc.entities.kind[entity])} `,
    standing && make('span', { class: since ? 'standing standing-1' : 'standing' }, standing),
    ' ',
    ...stretchButtons(stretches, (one) => `${windowsText(one)}: ${one.cluster ?? one.place}`, go),
    unsearchedText(stretches),
  );
  const nowhere = () => remark(`${kindOf(doc.entities.kind[entity])} ${doc.entities.id[entity]}: ${standing ?? 'in no window of this file'}`);
  const exact = namesInLowerCase()[entity] === text;
  return stretches.length > 0 ? { line, exact, go: () => go(nearestOf(stretches)) } : { line, exact, go: nowhere, nowhere: true };
}

/** Says of how many windows it is not known whether they have an entity, which is in those of the stretches. */
function unsearchedText(stretches) {
  const has = (window) => stretches.some(({ from, until }) => from <= window && window <= until);
  const unknown = partlySearched().filter((window) => !has(window)).length;
  return unknown > 0 ? make('span', { class: 'left-out' }, ` (${counted(unknown, 'other window')} not searched in full)`) : null;
}

/** Goes to an entity in a window of a stretch: into its cluster, or beside the members of one that deals with it. */
function chooseEntity(entity, stretch) {
  const window = windowOf(stretch);
  const own = stretch.cluster !== null && clusterIn(window, stretch.cluster);
  const row = own || clusterBeside(window, entity);
  if (window !== state.window) chooseWindow(window);
  const scored = own ? undefined : scoredIn(window).find((other) => other.entity === entity);
  if (scored) {
    chooseList('entities');
    chooseScored(scored);
    return;
  }
  if (row) chooseCluster(row.id);
  else chooseVertex(null);
  const vertex = row && graph.detail?.rows.find((other) => other.entity === entity);
  if (vertex) chooseVertex(vertex.at);
  if (vertex && own) return;
  const who = `${kindOf(doc.entities.kind[entity])} ${doc.entities.id[entity]}`;
  const where = stretch.cluster === null ? stretch.place : `in cluster ${stretch.cluster}, of which this file does not list it`;
  remark(`${who}: ${where} (${windowsText({ from: window, until: window })})`);
}

/** The first cluster of a window whose drawing has an entity that is no member. */
function clusterBeside(window, entity) {
  return rowsOf(window).find(({ detail }) => {
    if (detail < 0) return false;
    const { members } = evidenceOf(detail);
    return members.entity.some((other, at) => other === entity && members.outside[at] === 1);
  });
}

/** Goes to what the search finds first: what has the very id, then the first cluster that is listed, then others. */
function chooseFirstFound() {
  const { results } = state;
  const exact = results.find((result) => result.exact && !result.nowhere) ?? results.find((result) => result.exact);
  const first = tables.ranking.rows[tables.ranking.order[0]];
  if (exact) exact.go();
  else if (first) tables.ranking.choose(first);
  else results[0]?.go();
}

/** Says which windows the search does not have in full, and what finds the rest. */
function leftOutOfSearch() {
  const windows = partlySearched();
  if (windows.length === 0) return [];
  const named = windows.slice(0, FOUND).map(leftOutOf).join('; ');
  const others = windows.length > FOUND ? `; and some of ${counted(windows.length - FOUND, 'other window')}` : '';
  return [make('li', { class: 'left-out' }, `Not searched, as this file is to stay small: ${named}${others}. ${doc.find} finds every entity.`)];
}

function listenToFilters() {
  const events = doc.events
    .map((event, at) => ({ ...event, at }))
    .filter(({ key }) => key !== 'died')
    .map(({ name, at }) => make('option', { value: at }, name));
  byId('event').append(...events);
  byId('event').onchange = ({ target }) => {
    state.event = target.value === '' ? null : Number(target.value);
    showRanking();
  };
  byId('least').oninput = ({ target }) => {
    state.least = Number(target.value) || 0;
    showRanking();
  };
  byId('without-noise').onchange = ({ target }) => {
    state.withoutNoise = target.checked;
    showRanking();
  };
  byId('search').oninput = ({ target }) => {
    state.query = target.value;
    byId('remark').hidden = true;
    showRanking();
    showFound(state.query.trim().toLowerCase());
  };
  byId('search').onkeydown = (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      chooseFirstFound();
      byId('ranking').focus();
    }
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      const first = tables.ranking.rows[tables.ranking.order[0]];
      if (first) tables.ranking.choose(first);
      byId('ranking').focus();
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      byId('search').value = state.query = '';
      showRanking();
      showFound('');
      byId('ranking').focus();
    }
  };
}
