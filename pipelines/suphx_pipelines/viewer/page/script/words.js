// Words in the chosen language. Sentences have places such as {name}.

const WORDS = JSON.parse(byId("data").textContent).words;
let language = "en";

function word(key, values = {}) {
  const text = WORDS[language].words[key] ?? WORDS.en.words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

function points(value) {
  return value.toLocaleString(language);
}

function change(value) {
  return value > 0 ? `+${points(value)}` : value < 0 ? `−${points(-value)}` : "±0";
}

function percent(value) {
  return value >= 0.0995 ? `${Math.round(100 * value)} %` : value >= 0.001 ? `${(100 * value).toFixed(1)} %` : "< 0.1 %";
}

// Write the words of everything that has a data-word.
function writeWords() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
}

// Name a button for people who hear it, or point at it.
function label(id, key) {
  byId(id).setAttribute("aria-label", word(key));
  byId(id).title = word(key);
}
