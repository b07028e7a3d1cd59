// What speaks for and against the chosen cluster: its scores with their formulas, its members, the
// transactions among them, and its life.

const tables = {};

function makeEvidence() {
  tables.members = new LongTable({
    host: byId('members'),
    label: 'Members of the cluster',
    keyOf: (row) => String(row.at),
    sort: { key: 'score', direction: 'down' },
    chosen: (row) => chooseVertex(row.at),
    empty: 'This file has no members of this cluster.',
    columns: [
      { key: 'id', title: 'Entity', hint: 'Its id in the data', value: ({ name }) => name, cell: ({ name }) => idText(name) },
      { key: 'kind', title: 'Kind', hint: 'What it is', value: ({ kind }) => kindOf(kind), cell: ({ kind }) => kindOf(kind) },
      {
        key: 'standing',
        title: 'Standing',
        hint: 'What was known of it when the window ended',
        first: 'down',
        value: ({ standing, outside }) => (standing === KNOWN_BAD ? 2 : 0) + (standing > KNOWN_BAD ? 1 : 0) - (outside ? 0.5 : 0),
        cell: standingCell,
      },
      {
        key: 'score',
        title: 'Score',
        hint: `${doc.member_score.meaning} ${doc.member_score.formula}`,
        figure: true,
        first: 'down',
        value: ({ score }) => score,
        cell: ({ score }) => (score === null ? EMPTY : meter(placeOfScore(score, graph.detail.window), written(score, doc.member_score.form))),
      },
      {
        key: 'share',
        title: 'To known bad',
        hint: 'Share of its weight that goes to entities known bad',
        figure: true,
        first: 'down',
        value: ({ share }) => share,
        cell: ({ share }) => (share === null ? EMPTY : meter(share, written(share, 'share'))),
      },
      {
        key: 'distance',
        title: 'Seed distance',
        hint: 'Edges on a shortest path to an entity known bad',
        figure: true,
        value: ({ distance }) => distance,
        cell: ({ distance }) => written(distance, 'count'),
      },
    ],
  });
  const end = (name) => (row) => {
    const vertex = row[name];
    return make('span', { class: vertex.standing === KNOWN_BAD ? 'is-bad' : null }, idText(vertex.name));
  };
  const day = (name, title, hint) => ({
    key: name,
    title,
    hint,
    figure: true,
    first: 'down',
    value: (row) => row[name],
    cell: (row) => dayOf(row[name]),
  });
  const figure = (name, title, hint, form) => ({
    key: name,
    title,
    hint,
    figure: true,
    first: 'down',
    value: (row) => row[name],
    cell: (row) => written(row[name], form),
  });
  tables.transactions = new LongTable({
    host: byId('transactions'),
    label: 'Transactions among the members',
    keyOf: (row) => String(row.at),
    sort: { key: 'weight', direction: 'down' },
    chosen: chooseEdge,
    empty: 'There are no transactions to show.',
    columns: [
      { key: 'source', title: 'Entity', hint: 'One of the two', value: ({ source }) => source.name, cell: end('source') },
      { key: 'target', title: 'With', hint: 'The other', value: ({ target }) => target.name, cell: end('target') },
      figure('count', 'Transactions', 'How many between these two in the window', 'count'),
      figure('amount', 'Amount', 'Their sum', 'number'),
      figure('weight', 'Weight', 'What label propagation counts', 'number'),
      day('first', 'First', 'Day of the first'),
      day('last', 'Last', 'Day of the last'),
    ],
  });
}

function standingCell({ standing, outside }) {
  const words = STANDINGS[standing];
  const badges = [];
  if (words) badges.push(make('span', { class: `standing standing-${standing}` }, words));
  if (outside) badges.push(make('span', { class: 'standing', title: 'Drawn because members deal with it' }, 'not a member'));
  return badges.length ? make('span', {}, ...badges) : EMPTY;
}

/** A column of the scores that a run defines. */
function scoreColumn({ key, name, meaning, formula, form }, at) {
  return {
    key,
    title: name,
    hint: `${meaning} ${formula}`,
    figure: true,
    first: 'down',
    value: ({ scores }) => scores[at],
    cell: ({ scores }) => written(scores[at], form),
  };
}

function showEvidence(row) {
  const detail = row && detailOf(row);
  byId('detail').classList.toggle('without', !row);
  byId('no-cluster').hidden = Boolean(row);
  if (!row) {
    showGraph(null);
    return;
  }
  const window = doc.windows[row.window];
  byId('cluster-id').replaceChildren(idText(row.id));
  byId('cluster-line').replaceChildren(
    badge(row.event),
    `Rank ${grouped.format(row.rank)} of ${grouped.format(window.clusters)} · ${counted(row.size, 'member')}, ${grouped.format(row.known)} known bad · first seen ${lastOf(row.born)}`,
  );
  showGraph(detail);
  drawKinds();
  const gone = detail === null;
  byId('no-detail').hidden = !gone;
  byId('graph-box').hidden = gone;
  showScores(row);
  showHistory(row);
  const members = detail?.rows ?? [];
  tables.members.show(members);
  byId('tab-members').replaceChildren('Members ', make('small', {}, grouped.format(members.length)));
  byId('list-note').textContent = detail ? whatIsListed(detail) : '';
}

/** Those of the chosen vertex, or all. */
function showTransactions() {
  const all = graph.detail?.transactions ?? [];
  const own = ({ source, target }) => source.at === state.vertex || target.at === state.vertex;
  const rows = state.vertex === null ? all : all.filter(own);
  tables.transactions.key = null;
  tables.transactions.show(rows);
  const count = rows.length < all.length ? `${grouped.format(rows.length)} of ${grouped.format(all.length)}` : grouped.format(all.length);
  byId('tab-transactions').replaceChildren('Transactions ', make('small', {}, count));
}

function whatIsListed({ rows, transactions, members_total, edges_total }) {
  const members = rows.filter(({ outside }) => !outside).length;
  const notes = [];
  if (members < members_total) notes.push(`${grouped.format(members)} of ${counted(members_total, 'member')}`);
  if (transactions.length < edges_total) notes.push(`${grouped.format(transactions.length)} of ${counted(edges_total, 'edge')}`);
  return notes.length ? `This file has ${notes.join(' and ')}; the tables of the run have all.` : '';
}

/** Each score: its value, how it compares, what it means, and its formula. */
function showScores(row) {
  const all = rowsOf(row.window);
  const entry = ({ name, meaning, formula, form }, value, values) => {
    const known = values.filter((other) => other !== null);
    const below = known.filter((other) => other < value).length;
    const share = value === null || known.length < 2 ? null : below / (known.length - 1);
    const rank = share === null ? 'Nothing to compare with' : `Above ${Math.round(share * 100)} % of this window’s clusters`;
    return make(
      'div',
      { class: 'score' },
      make('dt', {}, name),
      make(
        'dd',
        {},
        make('span', { class: 'value' }, written(value, form)),
        share === null ? null : meter(share, ''),
        make('span', { class: 'compared' }, rank),
        make('span', { class: 'meaning' }, meaning),
        make('code', {}, formula),
      ),
    );
  };
  const entries = doc.scores.map((score, at) => entry(score, row.scores[at], all.map(({ scores }) => scores[at])));
  const whole = entry(doc.score, row.score, all.map(({ score }) => score));
  byId('scores').replaceChildren(make('dl', {}, whole, ...entries));
}

function showHistory(row) {
  const rows = [...historyOf(row.id)].reverse();
  const cells = (other) => [
    make('td', {}, make('button', { type: 'button', class: 'link', onclick: () => chooseWindow(other.window) }, rangeOf(doc.windows[other.window]))),
    make('td', {}, badge(other.event)),
    make('td', { class: 'figures' }, grouped.format(other.rank)),
    make('td', { class: 'figures' }, written(other.score, doc.score.form)),
    make('td', { class: 'figures' }, grouped.format(other.size)),
    make('td', { class: 'figures' }, grouped.format(other.known)),
    make('td', {}, ...parentsOf(other)),
  ];
  const lines = rows.map((other) => make('tr', { 'aria-current': other.window === row.window ? 'true' : null }, ...cells(other)));
  const head = ['Window', 'Event', 'Rank', 'Score', 'Members', 'Known bad', 'From'];
  const figures = new Set(['Rank', 'Score', 'Members', 'Known bad']);
  byId('history').replaceChildren(
    make('p', { class: 'rule' }, doc.overlap_rule),
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...head.map((title) => make('th', { scope: 'col', class: figures.has(title) ? 'figures' : null }, title)))),
      make('tbody', {}, ...lines),
    ),
  );
}

/** Where a cluster came from, each a way there. */
function parentsOf({ window, parents }) {
  if (parents.length === 0) return [EMPTY];
  return parents.flatMap((id, at) => {
    const there = window > 0 && clusterIn(window - 1, id);
    const link = there
      ? make('button', { type: 'button', class: 'link', onclick: () => chooseCluster(id, window - 1) }, id)
      : make('span', {}, id);
    return at === 0 ? [link] : [', ', link];
  });
}

function showTab(name) {
  state.tab = name;
  for (const tab of ['members', 'transactions', 'scores', 'history']) {
    const chosen = tab === name;
    byId(`tab-${tab}`).setAttribute('aria-selected', chosen);
    byId(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
    byId(tab).hidden = !chosen && !printing;
  }
  tables[name]?.draw(true);
}

function listenToTabs() {
  const tabs = [...byId('tabs').querySelectorAll('[role=tab]')];
  for (const tab of tabs) tab.onclick = () => showTab(tab.dataset.panel);
  byId('tabs').onkeydown = (event) => {
    const here = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || here < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    showTab(tab.dataset.panel);
    tab.focus();
  };
}

/** The chosen cluster's members or transactions as a file. */
function saveTable() {
  const table = tables[state.tab] ?? tables.members;
  const columns = table.columns;
  const quoted = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    // A sheet would run what begins so as a formula.
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const shown = { standing: (row) => STANDINGS[row.standing], first: (row) => dayOf(row.first), last: (row) => dayOf(row.last) };
  const line = (row) => columns.map((column) => quoted((shown[column.key] ?? column.value)(row))).join(',');
  const text = [columns.map(({ key }) => quoted(key)).join(','), ...table.order.map((at) => line(table.rows[at]))].join('\n') + '\n';
  const link = make('a', {
    download: `${state.cluster}-${table === tables.members ? 'members' : 'transactions'}.csv`,
    href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })),
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
