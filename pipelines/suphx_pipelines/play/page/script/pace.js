// Shows what has happened step by step, as fast as the person wants. Messages wait in a queue.

const STEP_MILLISECONDS = { slow: 1000, normal: 450, fast: 150, instant: 0 };
const queue = [];
let pace = "normal";
let timer = null;

function receive(message) {
  if (message.type === "refused") return showRefusal(message);
  if (message.type === "hint") return showHint(message);
  if (message.type === "steps") queue.push(...message.steps.map((step) => ({ type: "step", step })));
  else queue.push(message);
  if (timer === null) playQueue();
}

function playQueue() {
  timer = null;
  while (queue.length) {
    const message = queue.shift();
    const wait = message.type === "step" ? showStep(message.step) : showView(message);
    if (wait > 0) {
      draw();
      timer = setTimeout(playQueue, wait);
      return;
    }
  }
  draw();
}

// Return how long the step remains in view before the next one.
function showStep(step) {
  state = { ...state, ...step.changes };
  newest = step;
  if (step.seat === place.seat || document.hidden || step.kind === "end") return 0;
  const wait = STEP_MILLISECONDS[pace];
  return step.kind === "draw" ? wait / 3 : wait;
}

function showView(next) {
  hint = null;
  riichi = null;
  hideNotice();
  setView(next);
  history.replaceState(null, "", `${location.pathname}${location.search}#${next.table}`);
  askHint();
  return 0;
}

function showHint(message) {
  if (message.number !== view.number || !isAsked()) return;
  hint = message;
  draw();
}

function showRefusal(message) {
  for (const button of [byId("next"), byId("again")]) {
    if (button === null) continue;
    button.disabled = false; // to be pressed again
    if (document.activeElement === document.body) button.focus();
  }
  showNotice(message.reason);
}

function showNotice(text) {
  setNotice("notice", text);
}

function hideNotice() {
  setNotice("notice", "");
}

// Change a notice only if it says something else: a screen reader reads it again after each change.
function setNotice(id, text) {
  const notice = byId(id);
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = text === "";
}
