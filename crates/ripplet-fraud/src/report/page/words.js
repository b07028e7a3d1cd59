// How values are written, and how elements are made: text only ever goes in as text.

const EMPTY = '–';
const DAY = 86400e6;

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const brief = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const FORMS = {
  share: (value) => value.toFixed(3),
  number: (value) => (Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped.format(value) : value.toPrecision(3)),
  nats: (value) => value.toFixed(2).replace('-', '−'),
  count: (value) => grouped.format(value),
  change: (value) => (value > 0 ? '+' : value < 0 ? '−' : '') + Math.abs(value * 100).toFixed(0) + ' %',
};

function written(value, form) {
  return value === null || value === undefined ? EMPTY : (FORMS[form] ?? FORMS.number)(value);
}

/** A time in microseconds as a day, and as its minute where it is not midnight; UTC. */
function moment(micros) {
  const text = new Date(micros / 1000).toISOString();
  return micros % DAY === 0 ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
}

/** A day, counted from 1970. */
function dayOf(day) {
  return day === null ? EMPTY : new Date(day * 864e5).toISOString().slice(0, 10);
}

/** The last instant of a window, whose `until` is the first behind it: where that is midnight, the day before. */
function lastOf(until) {
  return until % DAY === 0 ? moment(until - DAY) : moment(until);
}

function rangeOf(window) {
  return `${moment(window.from)} to ${lastOf(window.until)}`;
}

function counted(number, one, many = one + 's') {
  return `${grouped.format(number)} ${number === 1 ? one : many}`;
}

function kindOf(kind) {
  return doc.kinds[kind] ?? 'entity';
}

/** An element with attributes (`on…` are listeners) and children, which are elements or text. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An id from the data: it may be written from right to left, and be long. */
function idText(id) {
  return make('bdi', { class: 'id', title: id }, id);
}

function badge(event) {
  const known = doc.events[event];
  return make('span', { class: `badge event-${known.key}`, title: known.rule }, known.name);
}

/** Where a member's score lies between the lowest and the highest of its window, from 0 to 1. */
function placeOfScore(score, window) {
  const { bottom, top } = doc.windows[window];
  return score === null || top <= bottom ? 0 : Math.max(0, Math.min(1, (score - bottom) / (top - bottom)));
}

/** A bar for a share of one, and its number. */
function meter(share, text) {
  const bar = make('span', { class: 'bar', 'aria-hidden': 'true' }, make('span', {}));
  bar.firstChild.style.width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
  return make('span', { class: 'meter' }, bar, make('span', { class: 'figure' }, text));
}

/** Says something to those who hear the page. */
function announce(text) {
  byId('spoken').textContent = text;
}

function byId(id) {
  return document.getElementById(id);
}
