// Tiles, melds and rivers as elements. Faces: 0-33 kinds, 34-36 red fives, -1 face down.

const FLAG_STEP = 64;
let hasLabels = false; // whether tiles show their number and suit, or the letters of a wind or dragon
const TSUMOGIRI = 1, RIICHI = 2, CALLED = 4;

function tileName(face) {
  return face < 0 ? word("hidden_tile") : WORDS[language].tiles[face];
}

function tileId(face) {
  if (face < 0) return "tile-back";
  return `tile-${face >= 34 ? 0 : face % 9 + 1}${face >= 34 ? "mps"[face - 34] : "mpsz"[Math.floor(face / 9)]}`;
}

function faceLabel(face) {
  if (face < 27) return `${face % 9 + 1}${"mps"[Math.floor(face / 9)]}`;
  return face >= 34 ? `5${"mps"[face - 34]}` : word(face < 31 ? `wind_short${face - 27}` : `dragon_short${face - 31}`);
}

// states: what the picture shows beside the face, in words.
function tile(face, kind = "", states = []) {
  const name = [tileName(face), ...states].join(", ");
  const use = svgElement("use", { href: `#${tileId(face)}` });
  const label = hasLabels && face >= 0 ? [svgElement("text", { class: "face-label", x: 2, y: 11, "aria-hidden": "true" }, faceLabel(face))] : [];
  return svgElement("svg", { class: `tile ${kind}`, viewBox: "0 0 30 40", role: "img", "aria-label": name }, svgElement("title", {}, name), use, ...label);
}

function tiles(faces, kind = "") {
  return faces.map((face) => tile(face, kind));
}

function meld(shown) {
  const faces = shown.is_hidden ? [-1, shown.faces[1], shown.faces[2], -1] : [...shown.faces];
  // Of four tiles, the added one lies on the turned one: the last but one, which is the third place if that is on the right.
  const isRight = shown.taken === faces.length - 1;
  const added = shown.is_added ? faces.splice(isRight ? 0 : faces.length - 1, 1)[0] : null;
  const taken = added !== null && isRight ? shown.taken - 1 : shown.taken;
  const parts = faces.map((face, index) => {
    if (index !== taken) return tile(face);
    return added === null ? tile(face, "turned") : el("span", { class: "stack" }, tile(added, "turned"), tile(face, "turned"));
  });
  return el("span", { class: "meld" }, parts);
}

function riverTile(number, isLast) {
  const face = number % FLAG_STEP, flags = Math.floor(number / FLAG_STEP);
  const kinds = [flags & RIICHI ? "turned" : "", flags & CALLED ? "called" : "", flags & TSUMOGIRI ? "cut" : "", isLast ? "newest" : ""];
  const states = [flags & RIICHI ? word("tile_riichi") : "", flags & CALLED ? word("tile_called") : "", flags & TSUMOGIRI ? word("tile_cut") : ""];
  return tile(face, kinds.join(" "), states.filter((state) => state));
}

// Rows of six; the third takes the rest.
function river(numbers, newest) {
  const rows = [numbers.slice(0, 6), numbers.slice(6, 12), numbers.slice(12)];
  let index = 0;
  return el("div", { class: "river" }, rows.map((row) => el("div", { class: "row" }, row.map((number) => riverTile(number, index++ === newest)))));
}
