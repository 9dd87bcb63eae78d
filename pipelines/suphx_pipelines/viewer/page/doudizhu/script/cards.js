// Cards as elements, by rank: 0 is a 3, 14 the red joker, -1 face down.

function card(rank) {
  const title = svgElement("title", {}, cardName(rank));
  const use = svgElement("use", { href: rank < 0 ? "#card-back" : `#card-${rank}` });
  return svgElement("svg", { class: "card", viewBox: "0 0 30 42", role: "img", "aria-label": cardName(rank) }, title, use);
}

// Cards that lie over each other, so that the corner of each is seen.
function fan(ranks, kind = "") {
  const element = el("span", { class: `fan ${kind}` }, ranks.map(card));
  element.style.setProperty("--n", Math.max(ranks.length - 1, 1));
  return element;
}
