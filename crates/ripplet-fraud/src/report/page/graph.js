// The drawing of a cluster. Positions are scaled, vertices and labels are not, so that
// to come nearer makes room.

/** Room around a drawing: for names, and above for the key. */
const ROOM = { side: 52, top: 46, bottom: 52 };
const PAPER = { width: 760, height: 500 };
const LETTER = 6.3;
const LONGEST_LABEL = 18;

const graph = { detail: null, places: [], vertices: [], edges: [], motion: null, elements: null };

function showGraph(detail) {
  const host = byId('graph');
  graph.detail = detail;
  if (detail === null) {
    graph.vertices = [];
    host.replaceChildren();
    byId('graph-note').textContent = '';
    return;
  }
  const { vertices, edges } = drawable(detail);
  Object.assign(graph, { vertices, edges, places: laidOut({ vertices, edges }) });
  graph.heaviest = edges.reduce((most, { weight }) => Math.max(most, weight), 0) || 1;
  graph.incident = new Map(vertices.map((vertex) => [vertex.at, []]));
  edges.forEach((edge) => {
    graph.incident.get(edge.source.at).push(edge);
    graph.incident.get(edge.target.at).push(edge);
  });
  makeElements(host);
  fitGraph();
  noteWhatIsDrawn();
}

function makeElements(host) {
  const lines = graph.edges.map((edge) => {
    const bad = edge.source.standing === KNOWN_BAD || edge.target.standing === KNOWN_BAD;
    const line = drawn('line', { class: bad ? 'edge to-bad' : 'edge' });
    line.style.strokeWidth = `${0.8 + 2.4 * Math.sqrt(edge.weight / graph.heaviest)}px`;
    return line;
  });
  // Arrows point to who is paid; where that is not known, there is none.
  const heads = graph.edges.map(({ source, target, count }) => {
    const bad = source.standing === KNOWN_BAD || target.standing === KNOWN_BAD;
    return drawn('path', { class: bad ? 'head to-bad' : 'head', d: count === null ? '' : 'M0,0L-7,3.2L-7,-3.2Z' });
  });
  const nodes = graph.vertices.map((vertex) => {
    const classes = ['vertex', vertex.standing === KNOWN_BAD && 'bad', vertex.outside && 'outside'];
    const title = `${kindOf(vertex.kind)} ${vertex.name}${STANDINGS[vertex.standing] ? ', ' + STANDINGS[vertex.standing] : ''}`;
    const shape = drawn('path', { class: 'shape', d: shapeOf(vertex.kind, radiusOf(vertex)) });
    shape.style.setProperty('--heat', `${Math.round(heatOf(vertex) * 100)}%`);
    const ring = vertex.standing === KNOWN_BAD;
    return drawn(
      'g',
      { class: classes.filter(Boolean).join(' '), 'data-vertex': vertex.at },
      drawn('title', {}, title),
      drawn('circle', { class: 'hit', r: radiusOf(vertex) + 6 }),
      ring ? drawn('path', { class: 'ring', d: shapeOf(vertex.kind, radiusOf(vertex) + RING_ROOM) }) : null,
      shape,
    );
  });
  const labels = graph.vertices.map((vertex) => {
    const text = drawn('text', { class: 'name', 'text-anchor': 'middle', 'unicode-bidi': 'isolate' });
    text.textContent = shortened(vertex.name);
    return text;
  });
  const edges = drawn('g', { class: 'edges' }, ...lines);
  // Above the names, which stand below the vertices, or arrows from there would end behind them.
  const tips = drawn('g', { class: 'heads' }, ...heads);
  // Many edges would hide what they join.
  const opacity = Math.min(1, Math.max(0.3, Math.sqrt(70 / (lines.length + 1)))).toFixed(2);
  edges.style.opacity = tips.style.opacity = opacity;
  const picture = drawn(
    'svg',
    { width: '100%', height: '100%' },
    edges,
    drawn('g', { class: 'vertices' }, ...nodes),
    drawn('g', { class: 'names' }, ...labels),
    tips,
  );
  graph.elements = { picture, lines, heads, nodes, labels };
  host.replaceChildren(picture);
}

function heatOf(vertex) {
  return vertex.standing === KNOWN_BAD ? 1 : placeOfScore(vertex.score);
}

function radiusOf(vertex) {
  return 5 + Math.min(7, 1.2 * Math.sqrt(graph.incident.get(vertex.at).length));
}

/** Of the kinds that are drawn as polygons: corners, the angle of the first, and how far it is for a radius of 1. */
const POLYGONS = {
  1: [4, Math.PI / 4, 1.25],
  2: [4, 0, 1.3],
  3: [3, -Math.PI / 2, 1.4],
  4: [6, 0, 1.15],
};
const RING_ROOM = 3.5;

/** How far from the middle of a vertex the outermost line around it is, in a direction. */
function rimOf(vertex, angle) {
  const radius = radiusOf(vertex) + (vertex.standing === KNOWN_BAD ? RING_ROOM : 0);
  const kind = vertex.kind % 6;
  if (!(kind in POLYGONS)) return kind === 0 ? radius : radius * 1.2;
  const [corners, turn, far] = POLYGONS[kind];
  const side = (2 * Math.PI) / corners;
  const beyond = (((angle - turn) % side) + side) % side;
  return (radius * far * Math.cos(side / 2)) / Math.cos(beyond - side / 2);
}

/** A shape for each kind of entity, all of about one area: round, square, diamond, triangle, hexagon, cross. */
function shapeOf(kind, radius) {
  const corners = (count, turn, far) =>
    Array.from({ length: count }, (_, at) => {
      const angle = (2 * Math.PI * at) / count + turn;
      return `${(far * Math.cos(angle)).toFixed(2)},${(far * Math.sin(angle)).toFixed(2)}`;
    });
  const polygon = ([count, turn, far]) => `M${corners(count, turn, far * radius).join('L')}Z`;
  switch (kind % 6) {
    case 0:
      return `M${-radius},0a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0Z`;
    case 1:
    case 2:
    case 3:
    case 4:
      return polygon(POLYGONS[kind % 6]);
    default: {
      const [a, b] = [radius * 1.2, radius * 0.45];
      return `M${-b},${-a}H${b}V${-b}H${a}V${b}H${b}V${a}H${-b}V${b}H${-a}V${-b}H${-b}Z`;
    }
  }
}

function shortened(name) {
  const letters = [...name];
  return letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL - 1).join('')}…` : name;
}

/** Brings all into view. */
function fitGraph() {
  if (graph.vertices.length === 0) return;
  const { width, height } = roomOfGraph();
  const xs = graph.places.map(({ x }) => x);
  const ys = graph.places.map(({ y }) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const across = (width - 2 * ROOM.side) / Math.max(right - left, 1e-6);
  const down = (height - ROOM.top - ROOM.bottom) / Math.max(bottom - top, 1e-6);
  // A lone vertex, or two, need not fill the room.
  graph.unit = Math.max(1e-6, Math.min(across, down, 90));
  graph.middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
  graph.motion.moveTo({ x: 0, y: (ROOM.top - ROOM.bottom) / 2, zoom: 1 });
}

function roomOfGraph() {
  if (printing) return PAPER;
  const { clientWidth: width, clientHeight: height } = byId('graph');
  return { width: width || 600, height: height || 400 };
}

function placeElements() {
  if (graph.vertices.length === 0) return;
  const { width, height } = roomOfGraph();
  const scale = graph.unit * graph.motion.view.zoom;
  const onScreen = graph.places.map(({ x, y }) => ({
    x: width / 2 + graph.motion.view.x + (x - graph.middle.x) * scale,
    y: height / 2 + graph.motion.view.y + (y - graph.middle.y) * scale,
  }));
  const { picture, lines, heads, nodes, labels } = graph.elements;
  picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const placeOf = new Map(graph.vertices.map((vertex, at) => [vertex.at, onScreen[at]]));
  graph.edges.forEach((edge, at) => {
    const [a, b] = [placeOf.get(edge.source.at), placeOf.get(edge.target.at)];
    for (const [name, value] of [['x1', a.x], ['y1', a.y], ['x2', b.x], ['y2', b.y]]) {
      lines[at].setAttribute(name, value.toFixed(1));
    }
    const angle = Math.atan2(b.y - a.y, b.x - a.x);
    const far = rimOf(edge.target, angle + Math.PI) + 1;
    const [x, y] = [b.x - far * Math.cos(angle), b.y - far * Math.sin(angle)];
    heads[at].setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${((angle * 180) / Math.PI).toFixed(1)})`);
  });
  nodes.forEach((node, at) => {
    node.setAttribute('transform', `translate(${onScreen[at].x.toFixed(1)} ${onScreen[at].y.toFixed(1)})`);
  });
  placeLabels(onScreen, labels, { width, height });
}

/** Names where there is room for them: those of what is chosen, known bad, and suspected first. */
function placeLabels(onScreen, labels, { width, height }) {
  const degreeOf = (vertex) => graph.incident.get(vertex.at).length / graph.edges.length;
  const urgent = (vertex) =>
    (vertex.at === state.vertex ? 4 : 0) + (isNear(vertex) ? 2 : 0) + heatOf(vertex) + (graph.edges.length ? degreeOf(vertex) : 0);
  const order = graph.vertices.map((_, at) => at);
  order.sort((a, b) => urgent(graph.vertices[b]) - urgent(graph.vertices[a]) || a - b);
  const taken = graph.vertices.map((vertex, at) => {
    const r = radiusOf(vertex);
    return { of: at, left: onScreen[at].x - r, right: onScreen[at].x + r, top: onScreen[at].y - r, bottom: onScreen[at].y + r };
  });
  for (const at of order) {
    const [vertex, { x, y }] = [graph.vertices[at], onScreen[at]];
    const half = (labels[at].textContent.length * LETTER) / 2;
    const top = y + rimOf(vertex, Math.PI / 2) + 3;
    const box = { of: at, left: x - half, right: x + half, top, bottom: top + 13 };
    const inside = x > -half && x < width + half && y > -20 && y < height;
    const free = taken.every(
      (other) =>
        other.of === at ||
        box.left > other.right + 2 || box.right < other.left - 2 || box.top > other.bottom + 1 || box.bottom < other.top - 1,
    );
    const shown = inside && (free || vertex.at === state.vertex);
    labels[at].classList.toggle('hidden', !shown);
    if (!shown) continue;
    labels[at].setAttribute('x', x.toFixed(1));
    labels[at].setAttribute('y', (top + 10).toFixed(1));
    taken.push(box);
  }
}

/** Whether it is an end of the chosen edge, or else the chosen vertex or beside it. */
function isNear(vertex) {
  const { edge } = state;
  if (edge) return edge.source === vertex || edge.target === vertex;
  return vertex.at === state.vertex || isBesideChosen(vertex);
}

function isBesideChosen(vertex) {
  const edges = graph.incident.get(state.vertex);
  return edges !== undefined && edges.some(({ source, target }) => source === vertex || target === vertex);
}

/** Marks the chosen vertex and its edges; the rest steps back. */
function markVertex() {
  if (!graph.elements || graph.vertices.length === 0) return;
  const { picture, nodes, lines, heads, labels } = graph.elements;
  const chosen = graph.incident.has(state.vertex) ? state.vertex : null;
  picture.classList.toggle('focused', chosen !== null || state.edge !== null);
  graph.vertices.forEach((vertex, at) => {
    const near = isNear(vertex);
    nodes[at].classList.toggle('chosen', vertex.at === chosen);
    nodes[at].classList.toggle('near', near);
    labels[at].classList.toggle('near', near);
  });
  graph.edges.forEach(({ source, target }, at) => {
    const own = chosen !== null && (source.at === chosen || target.at === chosen);
    const near = state.edge ? graph.edges[at].at === state.edge.at : own;
    lines[at].classList.toggle('near', near);
    heads[at].classList.toggle('near', near);
  });
  placeElements();
}

function noteWhatIsDrawn() {
  const { detail, vertices, edges } = graph;
  const members = vertices.filter(({ outside }) => !outside).length;
  const notes = [];
  if (detail.window !== state.window) {
    notes.push(`Drawn as of ${rangeOf(doc.windows[detail.window])}: this file has no transactions of the chosen window.`);
  }
  if (members < detail.members_total) {
    notes.push(`${grouped.format(members)} of ${counted(detail.members_total, 'member')} are drawn: those known bad, then those with the highest scores.`);
  }
  const among = new Set(vertices);
  const possible = detail.edges.filter(({ source, target }) => among.has(source) && among.has(target)).length;
  if (edges.length < possible || detail.edges.length < detail.edges_total) {
    notes.push(`Of ${counted(detail.edges_total, 'edge')}, the ${grouped.format(edges.length)} with most weight are drawn.`);
  }
  byId('graph-note').textContent = notes.join(' ');
}

function drawKinds() {
  const present = doc.kinds.map((name, kind) => ({ name, kind })).filter(({ kind }) => graph.vertices.some((vertex) => vertex.kind === kind));
  const key = (path, text, classes = '') =>
    make('li', {}, drawn('svg', { viewBox: '-12 -12 24 24', width: 16, height: 16, class: classes, 'aria-hidden': 'true' }, ...path), text);
  const shapes = present.map(({ name, kind }) => key([drawn('path', { class: 'shape', d: shapeOf(kind, 7) })], name));
  const bad = key([drawn('path', { class: 'ring', d: shapeOf(0, 10) }), drawn('path', { class: 'shape', d: shapeOf(0, 6) })], 'known bad', 'bad');
  const outside = key([drawn('path', { class: 'shape', d: shapeOf(0, 7) })], 'outside', 'outside');
  const [low, high] = [LEAST_SCORE, 0].map((score) => written(score, doc.member_score.form));
  const ramp = make('li', {}, make('span', { class: 'ramp', 'aria-hidden': 'true' }), `${doc.has_scores ? 'suspicion' : 'score'} ${low} to ${high} or more`);
  const [hasBad, hasOutside] = [({ standing }) => standing === KNOWN_BAD, ({ outside }) => outside].map((is) => graph.vertices.some(is));
  byId('kinds').replaceChildren(
    ...shapes,
    ...(graph.vertices.length ? [ramp] : []),
    ...(hasBad ? [bad] : []),
    ...(hasOutside ? [outside] : []),
  );
}

function listenToGraph() {
  const host = byId('graph');
  const chooseAt = (event) => {
    const node = event.target.closest('[data-vertex]');
    chooseVertex(node ? Number(node.dataset.vertex) : null);
  };
  graph.motion = new PanAndZoom(host, { changed: placeElements, clicked: chooseAt, size: roomOfGraph });
  graph.motion.fit = fitGraph;
  host.ondblclick = (event) => {
    const box = host.getBoundingClientRect();
    graph.motion.zoom(event.shiftKey ? 0.5 : 2, { x: event.clientX - box.left, y: event.clientY - box.top });
  };
  host.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (graph.vertices.length === 0) return;
    const acts = { n: () => stepVertex(1), p: () => stepVertex(-1), Escape: () => chooseVertex(null) };
    if (acts[event.key]) acts[event.key]();
    else if (!graph.motion.pressed(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  byId('zoom-in').onclick = () => graph.motion.zoom(1.4);
  byId('zoom-out').onclick = () => graph.motion.zoom(1 / 1.4);
  byId('zoom-fit').onclick = fitGraph;
  let width = 0;
  new ResizeObserver(() => {
    const room = roomOfGraph();
    if (graph.vertices.length === 0 || printing) return;
    if (room.width + room.height === width) return;
    width = room.width + room.height;
    fitGraph();
  }).observe(host);
}

function stepVertex(by) {
  const here = graph.vertices.findIndex(({ at }) => at === state.vertex);
  const count = graph.vertices.length;
  const next = graph.vertices[here < 0 ? 0 : (here + by + count) % count];
  chooseVertex(next.at);
}
