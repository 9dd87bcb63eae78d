// The connection to the server; it is made again when it breaks, and the game goes on where it was.

const RETRY_MILLISECONDS = 1500;
let socket = null;

function connectSocket() {
  socket = new WebSocket(`ws://${location.host}/play${location.search}`);
  socket.addEventListener("open", () => {
    queue.length = 0;
    send({ type: "sit", table: location.hash.slice(1) || null });
  });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    showNotice(word("disconnected"));
    setTimeout(connectSocket, RETRY_MILLISECONDS);
  });
}

function send(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

// Send a move once; until the answer comes, nothing can be pressed.
function sendMove(action, discardAction = null) {
  hideNotice();
  send({ type: "move", number: view.number, action, ...(discardAction === null ? {} : { discard: discardAction }) });
  view = { ...view, moves: [] };
  riichi = null;
  hint = null;
  draw();
}
