// A drawing of circles and the lines between them, in the element `drawing`.

const LETTER = 6.7;
const NAME_HEIGHT = 15;
const WIDEST_LINE = 9;
/** A name is cut to this many letters and no fewer. */
const LEGIBLE = 6;
/** The radius of circles that do not grow when one comes nearer. */
const FIXED_RADIUS = 7;
const ROOM = 40;

/**
 * What is drawn now: `nodes` of `{x, y, r, hue, names, title}`, `lines` of `[a, b, weight]`.
 *
 * Where `grows`, radii are lengths of the picture, and names stand within circles; otherwise circles keep
 * their size on the screen, and names stand below them.
 */
const scene = { nodes: [], lines: [], grows: true, chosen: null, view: null, elements: null, unit: 1, middle: { x: 0, y: 0 } };

function showScene({ nodes, lines, grows }) {
  Object.assign(scene, { nodes, lines, grows, chosen: null });
  scene.beside = nodes.map(() => new Set());
  lines.forEach(([a, b]) => {
    scene.beside[a].add(b);
    scene.beside[b].add(a);
  });
  makeElements();
  measureScene();
  scene.view.fit();
}

function makeElements() {
  const heaviest = scene.lines.reduce((most, [, , weight]) => Math.max(most, weight), 0) || 1;
  const lines = scene.lines.map(([, , weight]) => {
    const line = drawn('line', { class: 'link' });
    line.style.strokeWidth = `${(0.6 + ((scene.grows ? WIDEST_LINE : 2.4) - 0.6) * Math.sqrt(weight / heaviest)).toFixed(2)}px`;
    return line;
  });
  const nodes = scene.nodes.map(({ hue, title }, at) => {
    const node = drawn('g', { class: 'node', 'data-at': at }, drawn('title', {}, title), drawn('circle', { class: 'hit' }), drawn('circle', { class: 'shape' }));
    node.style.setProperty('--hue', String(hue));
    return node;
  });
  const names = scene.nodes.map(() => drawn('g', { class: 'names', 'unicode-bidi': 'isolate' }));
  // Many lines would hide what they join. The heaviest come first in the data, and above the others in the drawing.
  const joined = drawn('g', { class: 'lines' }, ...[...lines].reverse());
  joined.style.opacity = Math.min(1, Math.max(0.35, Math.sqrt(120 / (lines.length + 1)))).toFixed(2);
  const picture = drawn('svg', { width: '100%', height: '100%' }, joined, drawn('g', {}, ...nodes), drawn('g', {}, ...names));
  scene.elements = { picture, lines, nodes, names };
  byId('drawing').replaceChildren(picture);
}

function roomOfScene() {
  const { clientWidth, clientHeight } = byId('drawing');
  return { width: clientWidth || 600, height: clientHeight || 400 };
}

/** Finds the scale at which all is seen. */
function measureScene() {
  const { width, height } = roomOfScene();
  const ends = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  scene.nodes.forEach(({ x, y, r }) => {
    const radius = scene.grows ? r : 0;
    ends.left = Math.min(ends.left, x - radius);
    ends.right = Math.max(ends.right, x + radius);
    ends.top = Math.min(ends.top, y - radius);
    ends.bottom = Math.max(ends.bottom, y + radius);
  });
  if (scene.nodes.length === 0) return;
  scene.middle = { x: (ends.left + ends.right) / 2, y: (ends.top + ends.bottom) / 2 };
  const across = Math.max(40, width - 2 * ROOM) / Math.max(ends.right - ends.left, 1e-6);
  const down = Math.max(40, height - 2 * ROOM) / Math.max(ends.bottom - ends.top, 1e-6);
  const most = scene.grows ? 3 : 120;
  scene.unit = Math.min(across, down, most);
}

function placeScene() {
  if (!scene.elements) return;
  const { width, height } = roomOfScene();
  const { picture, lines, nodes, names } = scene.elements;
  const scale = scene.unit * scene.view.view.zoom;
  const places = scene.nodes.map(({ x, y, r }) => ({
    x: width / 2 + scene.view.view.x + (x - scene.middle.x) * scale,
    y: height / 2 + scene.view.view.y + (y - scene.middle.y) * scale,
    r: scene.grows ? Math.max(1, r * scale) : FIXED_RADIUS,
  }));
  picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
  scene.lines.forEach(([a, b], at) => {
    for (const [name, value] of [['x1', places[a].x], ['y1', places[a].y], ['x2', places[b].x], ['y2', places[b].y]]) {
      lines[at].setAttribute(name, value.toFixed(1));
    }
  });
  nodes.forEach((node, at) => {
    const { x, y, r } = places[at];
    node.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    node.querySelector('.shape').setAttribute('r', r.toFixed(1));
    node.querySelector('.hit').setAttribute('r', Math.max(r, 9).toFixed(1));
  });
  if (scene.grows) placeNamesWithin(places, names);
  else placeNamesBeside(places, names, { width, height });
}

function shortened(name, letters) {
  const all = [...name];
  return all.length <= letters ? name : all.slice(0, Math.max(1, letters - 1)).join('') + '…';
}

/** As many names as fit into each circle. */
function placeNamesWithin(places, elements) {
  places.forEach(({ x, y, r }, at) => {
    const letters = Math.floor((1.7 * r) / LETTER);
    const count = letters < 2 ? 0 : Math.min(3, Math.floor((1.3 * r) / NAME_HEIGHT));
    const lines = scene.nodes[at].names.slice(0, count).filter((name) => letters >= LEGIBLE || [...name].length <= letters).map((name) => shortened(name, letters));
    const first = y - (lines.length * NAME_HEIGHT) / 2 + 11;
    const texts = lines.map((line, row) => {
      const text = drawn('text', { class: 'name', x: x.toFixed(1), y: (first + row * NAME_HEIGHT).toFixed(1) });
      text.textContent = line;
      return text;
    });
    elements[at].replaceChildren(...texts);
  });
}

/** A name below each circle where there is room; the chosen one and those beside it come first. */
function placeNamesBeside(places, elements, { width, height }) {
  const urgent = (at) => (at === scene.chosen ? 2 : 0) + (scene.beside[scene.chosen]?.has(at) ? 1 : 0);
  const order = places.map((_, at) => at).sort((a, b) => urgent(b) - urgent(a) || a - b);
  const taken = places.map(({ x, y, r }, of) => ({ of, left: x - r, right: x + r, top: y - r, bottom: y + r }));
  for (const at of order) {
    const { x, y, r } = places[at];
    const label = shortened(scene.nodes[at].names[0] ?? '', 22);
    const half = ([...label].length * LETTER) / 2;
    const top = y + r + 2;
    const box = { of: at, left: x - half, right: x + half, top, bottom: top + 13 };
    const inside = box.right > 0 && box.left < width && y > -20 && y < height;
    const free = taken.every((other) => other.of === at || box.left > other.right + 2 || box.right < other.left - 2 || box.top > other.bottom + 1 || box.bottom < other.top - 1);
    if (!inside || (!free && at !== scene.chosen)) {
      elements[at].replaceChildren();
      continue;
    }
    const text = drawn('text', { class: 'name beside', x: x.toFixed(1), y: (top + 10).toFixed(1) });
    text.textContent = label;
    elements[at].replaceChildren(text);
    taken.push(box);
  }
}

/** Marks a circle and what is linked to it; the rest steps back. */
function markInScene(at) {
  scene.chosen = at;
  const { picture, lines, nodes } = scene.elements;
  picture.classList.toggle('focused', at !== null);
  nodes.forEach((node, other) => {
    node.classList.toggle('chosen', other === at);
    node.classList.toggle('near', other === at || (at !== null && scene.beside[at].has(other)));
  });
  scene.lines.forEach(([a, b], line) => lines[line].classList.toggle('near', a === at || b === at));
  placeScene();
}
