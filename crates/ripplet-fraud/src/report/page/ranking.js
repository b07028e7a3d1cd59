// The clusters of the chosen window: sorted, filtered, searched.

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
      { key: 'rank', title: 'Rank', hint: 'Place in this window’s ranking', figure: true, value: ({ rank }) => rank, cell: ({ rank }) => grouped.format(rank) },
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
  return make('span', { class: 'cluster' }, idText(row.id), match ? make('small', {}, '∋ ', idText(match)) : row.noise ? noiseBadge() : badge(row.event));
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
  byId('listed').textContent = `${grouped.format(rows.length)} of ${counted(clusters, 'cluster')}${less}${larger}`;
}

const FOUND = 12;

/** Lists the entities of any window that the search finds, with their windows and clusters. */
function showFound(text) {
  const host = byId('found');
  const { first, count } = text ? entitiesWith(text, FOUND) : { first: [], count: 0 };
  const windows = ({ from, until }) => (from === until ? `window ${from + 1}` : `windows ${from + 1} to ${until + 1}`);
  const stretch = (one) => {
    if (one.cluster === null) return make('span', {}, `${windows(one)}: ${one.place}`);
    const listed = clusterIn(one.until, one.cluster) !== null;
    const words = `${windows(one)}: ${one.cluster}`;
    return listed
      ? make('button', { type: 'button', class: 'link', onclick: () => chooseCluster(one.cluster, one.until) }, words)
      : make('span', {}, words);
  };
  const entry = (entity) => {
    const stretches = stretchesOf(entity);
    const known = stretches.some((one) => one.known) ? make('span', { class: 'standing standing-1' }, 'known bad') : null;
    const where = stretches.slice(0, FOUND).flatMap((one, at) => (at === 0 ? [stretch(one)] : [', ', stretch(one)]));
    return make('li', {}, idText(doc.entities.id[entity]), ` ${kindOf(doc.entities.kind[entity])} `, known, ...where);
  };
  const more = count > first.length ? [make('li', {}, `and ${counted(count - first.length, 'other')}`)] : [];
  const none = count === 0 ? [make('li', {}, 'Nobody of any window in this file has such an id.')] : [];
  host.replaceChildren(...first.map(entry), ...more, ...none, ...leftOutOfSearch());
  host.hidden = !text;
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
    showRanking();
    showFound(state.query.trim().toLowerCase());
  };
  byId('search').onkeydown = (event) => {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
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
