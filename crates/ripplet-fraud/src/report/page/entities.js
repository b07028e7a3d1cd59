// The entities with the highest scores, in a cluster or not; why an entity or a cluster is shown; and how far the scores
// of a window are to be trusted.

/** What a score is. */
const SCORE_HINT = 'The probability that it is on the list of known bad, too low by about the share of the bad that is listed: use ranks. Too few known bad to hold one out: no probability, a fixed combination that only ranks';

/** The entities with the highest scores of a window that are neither known to be bad nor trusted or cleared. */
const scoredIn = memoized((window) => {
  const { entity, score, rank, cluster, standing, explanation } = unpacked(doc.windows[window].scored);
  return entity.map((number, at) => ({
    window,
    entity: number,
    name: doc.entities.id[number],
    kind: doc.entities.kind[number],
    score: score[at],
    rank: rank[at],
    cluster: cluster[at],
    standing: standing[at],
    explanation: explanation[at],
  }));
});

function makeEntities() {
  byId('lists').hidden = !doc.has_scores;
  byId('clusters-title').hidden = doc.has_scores;
  byId('open-check').hidden = !doc.has_scores;
  tables.entities = new LongTable({
    host: byId('entities'),
    label: 'Entities with the highest scores',
    keyOf: ({ entity }) => String(entity),
    sort: { key: 'rank', direction: 'up' },
    chosen: (row) => chooseScored(row),
    empty: 'No entity matches.',
    columns: [
      { key: 'rank', title: 'Rank', hint: 'Among all entities of this window, by score', figure: true, value: ({ rank }) => rank, cell: ({ rank }) => grouped.format(rank) },
      { key: 'id', title: 'Entity', hint: 'Its id in the data', value: ({ name }) => name, cell: ({ name, kind }) => (hasKinds() ? make('span', {}, `${kindOf(kind)} `, idText(name)) : idText(name)) },
      {
        key: 'score',
        title: 'Score',
        hint: SCORE_HINT,
        figure: true,
        first: 'down',
        value: ({ score }) => score,
        cell: ({ score }) => meter(score, written(score, 'probability')),
      },
      { key: 'cluster', title: 'Cluster', hint: 'Its cluster, if it is in one', value: ({ cluster }) => cluster, cell: ({ cluster }) => (cluster === null ? EMPTY : idText(cluster)) },
      {
        key: 'reason',
        title: 'Most unlike others',
        hint: 'The largest part of its score, beside what is typical',
        value: (row) => firstReason(row),
        cell: (row) => make('span', { title: firstReason(row) }, firstReason(row) || EMPTY),
      },
    ],
  });
}

function firstReason({ explanation }) {
  return explanation.reasons[0]?.[2] ?? '';
}

/** Shows the clusters, or the entities with the highest scores. */
function chooseList(list) {
  state.list = list;
  for (const name of ['clusters', 'entities']) {
    byId(`list-${name}`).setAttribute('aria-selected', String(name === list));
    byId(`list-${name}`).tabIndex = name === list ? 0 : -1;
  }
  byId('ranking').hidden = list !== 'clusters';
  byId('entities').hidden = list !== 'entities';
  for (const filter of document.querySelectorAll('.filters .of-clusters')) filter.hidden = list !== 'clusters';
  if (list === 'clusters') {
    byId('detail').classList.remove('of-entity');
    showRanking();
    return;
  }
  showScored();
  const rows = tables.entities.rows;
  chooseScored(rows.find(({ entity }) => entity === state.entity) ?? rows[tables.entities.order[0]] ?? null);
}

/** Lists the entities of the chosen window that the search lets through. */
function showScored() {
  const text = state.query.trim().toLowerCase();
  const all = scoredIn(state.window);
  const rows = text ? all.filter(({ name }) => name.toLowerCase().includes(text)) : all;
  const { scored_total: total } = doc.windows[state.window];
  tables.entities.empty = all.length === 0 ? 'This file has no scores of entities of this window.' : 'No entity with one of the highest scores matches.';
  tables.entities.show(rows);
  byId('listed').textContent = `${grouped.format(rows.length)} of ${counted(total, 'entity', 'entities')}; known bad are listed apart`;
}

function chooseScored(row) {
  state.entity = row?.entity ?? null;
  tables.entities.select(row ? String(row.entity) : null);
  byId('detail').classList.toggle('of-entity', row !== null);
  if (row === null) return;
  const { kind, name, rank, score, cluster, standing, explanation, window } = row;
  byId('entity-id').replaceChildren(...(hasKinds() ? [`${kindOf(kind)} `] : []), idText(name));
  const go = () => {
    chooseList('clusters');
    chooseCluster(cluster);
    const vertex = graph.detail?.rows.find((other) => other.entity === row.entity);
    if (vertex) chooseVertex(vertex.at);
  };
  const link = cluster !== null && clusterIn(window, cluster) ? make('button', { type: 'button', class: 'link', onclick: go }, `cluster ${cluster}`) : null;
  byId('entity-line').replaceChildren(
    ...(STANDINGS[standing] ? [make('span', { class: `standing standing-${standing}` }, STANDINGS[standing])] : []),
    `Rank ${grouped.format(rank)} of ${grouped.format(doc.windows[window].scored_total)} · score ${written(score, 'probability')}${doc.windows[window].fixed ? ', no probability' : ''} · `,
    ...(link ? ['in ', link] : [cluster === null ? 'in no cluster' : `in cluster ${cluster}`]),
  );
  byId('entity-reasons').replaceChildren(
    make('h3', {}, 'What it has that others lack'),
    reasonsList(explanation),
    ...pathElements(explanation, window),
  );
  byId('entity-reasons').scrollTop = 0;
  rememberPlace();
}

/** The largest parts of a score, each with its points. */
function reasonsList({ reasons }) {
  if (reasons.length === 0) return make('p', { class: 'rule' }, 'No part of its score is above that of the average entity.');
  const most = reasons.reduce((most, [, points]) => Math.max(most, points), 0) || 1;
  const entry = ([key, points, words]) =>
    make(
      'li',
      { title: `Evidence ${key}: points in log odds above the mean of all entities` },
      make('span', { class: 'words' }, words),
      meter(points / most, `+${points.toFixed(1)}`),
    );
  return make('ol', { class: 'reasons' }, ...reasons.map(entry));
}

/** A plain table of few rows; columns have a title, whether they are figures, and the cell of a row. */
function smallTable(columns, rows) {
  const kind = ({ figure }) => (figure ? 'figures' : null);
  return make(
    'div',
    { class: 'small-table' },
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...columns.map((column) => make('th', { scope: 'col', class: kind(column) }, column.title)))),
      make('tbody', {}, ...rows.map((row) => make('tr', {}, ...columns.map((column) => make('td', { class: kind(column) }, column.cell(row)))))),
    ),
  );
}

/** An entity of a path: red if it is known bad at the end of the window. */
function pathEntity(window, entity) {
  return make('span', { class: knownIn(window).has(entity) ? 'is-bad' : null }, ...namedEntity(entity));
}

/** The path to the nearest known bad entity, its sums, and the transactions behind a reason. */
function pathElements({ path, along_ties: ties, flows, transactions }, window) {
  const { from, known_bad: known } = doc.windows[window];
  const instant = (seconds) => (seconds === null ? null : from + Math.round(seconds * 1e6));
  const elements = [make('h3', {}, 'Path to the nearest known bad')];
  if (path.length === 0) {
    const none = known === 0 ? 'Nobody was known to be bad when this window ended.' : 'Nobody who is known bad is within four hops.';
    elements.push(make('p', { class: 'rule' }, none));
  } else {
    const chain = path.flatMap((entity, at) => (at === 0 ? [pathEntity(window, entity)] : [make('span', { class: 'hop', 'aria-label': 'then' }, '—'), pathEntity(window, entity)]));
    const one = path.length === 2;
    const along = ties ? (one ? 'a tie beyond chance' : 'each a tie beyond chance') : one ? 'not beyond chance' : 'not all of them beyond chance';
    elements.push(make('p', { class: 'chain' }, ...chain), make('p', { class: 'rule' }, `${counted(path.length - 1, 'hop')}, ${along}.`));
    const columns = [
      { title: 'From', cell: ([source]) => pathEntity(window, source) },
      { title: 'To', cell: ([, target]) => pathEntity(window, target) },
      { title: 'Transactions', figure: true, cell: ([, , count]) => written(count, 'count') },
      { title: 'Sum', figure: true, cell: ([, , , amount]) => money(amount) },
      { title: 'First', figure: true, cell: ([, , , , first]) => moment(instant(first)) },
      { title: 'Last', figure: true, cell: ([, , , , , last]) => moment(instant(last)) },
    ];
    elements.push(smallTable(doc.decimals === null ? columns.filter(({ title }) => title !== 'Sum') : columns, flows));
  }
  if (transactions.length > 0) {
    const columns = [
      { title: 'Time', cell: ([, , time]) => moment(instant(time)) },
      { title: 'From', cell: ([source]) => pathEntity(window, source) },
      { title: 'To', cell: ([, target]) => pathEntity(window, target) },
      { title: 'Amount', figure: true, cell: ([, , , amount]) => money(amount) },
    ];
    elements.push(
      make('h3', {}, path.length ? 'Latest transactions of each hop' : 'Its latest transactions'),
      smallTable(doc.decimals === null ? columns.slice(0, 3) : columns, transactions),
    );
  }
  return elements;
}

/** Says whether the scores of the chosen window are to be trusted, and how well they and each evidence rank. */
function showCheck() {
  const window = doc.windows[state.window];
  const { check } = window;
  byId('check-range').textContent = rangeOf(window);
  byId('check-words').textContent = checkWords(window);
  byId('check-words').classList.toggle('warning', isWarned(check));
  if (!check) {
    byId('check-table').replaceChildren();
    byId('check').showModal();
    return;
  }
  const rows = [
    { name: 'score', value: check.average_precision, first: check.found_at_100, own: true },
    ...check.evidence.map(([name, value, first]) => ({ name, value, first })),
    { name: 'a random ranking', value: check.base_rate, first: null, base: true },
  ];
  const most = rows.reduce((most, { value }) => Math.max(most, value), 0) || 1;
  byId('check-table').replaceChildren(
    smallTable(
      [
        { title: 'Ranked by', cell: ({ name, own, base }) => make('span', { class: own ? 'own' : base ? 'base' : null }, name) },
        { title: 'Average precision', figure: true, cell: ({ value }) => meter(value / most, value.toFixed(3)) },
        { title: 'Found in the first 100', figure: true, cell: ({ first }) => (first === null ? '' : foundOf(first, check)) },
      ],
      rows,
    ),
  );
  byId('check').showModal();
}

/** Held-out known bad among the first 100 of all folds, of the most possible. */
function foundOf(found, { most_at_100: most }) {
  return `${grouped.format(Math.round(found))} of ${grouped.format(most)}`;
}

/** What ranks entities by an evidence. */
function rankingBy(name) {
  return `sort entities.parquet by this column, descending, missing values last (in SQL: ORDER BY "${name.replaceAll('"', '""')}" DESC NULLS LAST)`;
}

/** The verdict on the scores of a window, in words. */
function checkWords({ check, fixed, scored_total: total }) {
  if (total === 0) return 'No entity of this window has a score.';
  if (!check) return fixed ? 'Too few are known bad to hold one out: scores are a fixed combination of the evidence, neither calibrated nor checked. They rank, but are no probabilities.' : 'The scores of this window were not checked.';
  const held = `Each known bad entity was ranked as if it were not known: ${grouped.format(check.known_bad)} of them, in five parts.`;
  const auc = `the AUC is ${check.auc.toFixed(2)}, and that of a random ranking 0.5`;
  if (check.is_unclear) return `Too few are known bad to judge the scores: ${grouped.format(check.known_bad)} were held out; ${auc}, so that chance alone may rank them so. ${held}`;
  if (!check.is_chance && check.better) return `One evidence alone ranks clearly better than the scores: ${check.better[0]} has an average precision of ${check.better[1].toFixed(3)}, and the scores have ${check.average_precision.toFixed(3)}. To rank by it, ${rankingBy(check.better[0])}${check.is_of_ties ? ', or rank clusters by ties alone with --model none' : ''}. ${held}`;
  if (!check.is_chance) return `${held} Average precision is ${check.average_precision.toFixed(3)}, and that of a random ranking ${check.base_rate.toFixed(3)}; ${auc}. Among the first 100 of all parts are ${foundOf(check.found_at_100, check)} that were held out.`;
  const better = check.better ? ` ${check.better[0]} alone has ${check.better[1].toFixed(3)}: ${rankingBy(check.better[0])} instead.` : ' No evidence alone is clearly better.';
  return `The scores rank no better than chance: ${auc}; their average precision is ${check.average_precision.toFixed(3)}, and that of a random ranking ${check.base_rate.toFixed(3)}.${better} ${held}`;
}

/** Whether scores are no better than chance, clearly worse than one evidence, or of too few known bad to judge. */
function isWarned(check) {
  return Boolean(check && (check.is_chance || check.is_unclear || check.better));
}

/** Warns above the ranking if the scores of the chosen window are not to be trusted. */
function warnOfScores() {
  const { check } = doc.windows[state.window];
  byId('at-chance').hidden = !isWarned(check);
  byId('at-chance').textContent = isWarned(check) ? checkWords(doc.windows[state.window]).split(' Each known bad')[0] : '';
}

function listenToLists() {
  const lists = ['clusters', 'entities'];
  for (const list of lists) byId(`list-${list}`).onclick = () => chooseList(list);
  byId('lists').onkeydown = (event) => {
    if (!['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
    event.preventDefault();
    const other = state.list === 'clusters' ? 'entities' : 'clusters';
    chooseList(other);
    byId(`list-${other}`).focus();
  };
  byId('open-check').onclick = showCheck;
}
