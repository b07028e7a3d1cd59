// Elements: text only ever goes in as text.

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function byId(id) {
  return document.getElementById(id);
}

/** A number with its noun. */
function counted(number, one, many = one + 's') {
  return `${grouped.format(number)} ${number === 1 ? one : many}`;
}

/** An HTML element with attributes (`on…` are listeners) and children, which are elements or text. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element, likewise. */
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

/** Makes a button switch between light, dark, and what the system has. */
function listenToTheme(button) {
  const themes = ['auto', 'light', 'dark'];
  let theme = 'auto';
  button.onclick = () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    document.documentElement.dataset.theme = theme;
    button.textContent = { auto: 'Auto', light: 'Light', dark: 'Dark' }[theme];
    button.setAttribute('aria-label', `Colours: ${theme}`);
  };
}
