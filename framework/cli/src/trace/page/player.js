// The page: drawings, controls and keys.

// ------------------------------------------------------------------------------------- Drawing

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Returns the colour of a value between 1 and `most`, which is one of the four colours of the legend.
function heat(value, most) {
  return colour(`--heat-${most <= 1 ? 2 : Math.min(3, Math.floor((4 * (value - 1)) / (most - 1)))}`);
}

// Prepares a canvas for drawing in CSS pixels. Returns its context and size.
function prepared(canvas) {
  const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, window.devicePixelRatio || 1];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// The distance of a network from the edges of its canvas, in CSS pixels.
const MARGIN = 18;

// Returns the ends of the coordinates of positions along both axes.
function extents(positions) {
  const range = (i) => [Math.min(...positions.map((p) => p[i])), Math.max(...positions.map((p) => p[i]))];
  return [range(0), range(1)];
}

// Sets the height of a canvas so that a network that fills its width just fits. It is at most 90 % of
// the width, and at most 85 % of the window. The planes of networks of three dimensions are next to
// each other, so a canvas of a fixed height would be mostly empty.
function fitHeight(canvas, positions) {
  const [[left, right], [top, bottom]] = extents(positions);
  const unit = Math.min((canvas.clientWidth - 2 * MARGIN) / Math.max(right - left, 0.6), 130);
  const height = unit * Math.max(bottom - top, 0.6) + 2 * MARGIN;
  canvas.style.height = `${Math.min(Math.max(height, 120), 0.9 * canvas.clientWidth, 0.85 * window.innerHeight)}px`;
}

// Returns a function that maps a position of the network to the canvas, and the size of a unit.
function fitted(positions, width, height) {
  const [[left, right], [top, bottom]] = extents(positions);
  const unit = Math.min((width - 2 * MARGIN) / Math.max(right - left, 0.6), (height - 2 * MARGIN) / Math.max(bottom - top, 0.6), 130);
  const [x0, y0] = [(width - unit * (right - left)) / 2, (height - unit * (bottom - top)) / 2];
  return { unit, place: ([x, y]) => [x0 + (x - left) * unit, y0 + (y - top) * unit] };
}

// Draws the network. Each direction of a link has its own line; loaded lines are coloured.
function drawNetwork(schedule, frame, state, canvas) {
  const { network, nodes } = schedule;
  fitHeight(canvas, network.positions);
  const { context, width, height } = prepared(canvas);
  const { unit, place } = fitted(network.positions, width, height);
  const points = network.positions.map(place);
  const loads = frame ? loadsOf(frame) : new Map();
  const ofNodes = state.quantity === "held";
  const lines = network.links.map(([from, to]) => ({ from, to, load: loads.get(from * PAIR + to) }));
  const most = state.most;
  // Draw lines without load first, so that they do not cover coloured lines.
  for (const loaded of [false, true]) {
    for (const { from, to, load } of lines.filter((line) => !!line.load === loaded)) {
      const value = load ? (state.quantity === "bytes" ? load.bytes : load.messages) : 0;
      context.strokeStyle = value && !ofNodes ? heat(value, most) : colour(value ? "--line" : "--idle");
      context.lineWidth = value ? 2.2 : 1;
      const [[ax, ay], [bx, by]] = [points[from], points[to]];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      // The two directions of a link are shifted to different sides. Links around the edge of a
      // grid are curved, because a straight line would cover other nodes.
      const [nx, ny] = [(ay - by) / length, (bx - ax) / length];
      const shift = Math.min(2, unit / 12);
      const bulge = network.grid && length > 1.2 * unit ? unit * 0.35 : 0;
      context.beginPath();
      context.moveTo(ax + nx * shift, ay + ny * shift);
      context.quadraticCurveTo((ax + bx) / 2 + nx * (shift + bulge), (ay + by) / 2 + ny * (shift + bulge), bx + nx * shift, by + ny * shift);
      context.stroke();
    }
  }
  const radius = Math.max(2, Math.min(8, unit / 5));
  const held = (frame && frame.step.held) || [];
  points.forEach(([x, y], vertex) => {
    const isNode = vertex < nodes;
    context.fillStyle = colour(isNode ? "--node" : "--switch");
    if (isNode && ofNodes) context.fillStyle = held[vertex] ? heat(held[vertex], most) : colour("--idle");
    context.beginPath();
    if (isNode) context.arc(x, y, radius, 0, 7);
    else context.rect(x - radius * 0.7, y - radius * 0.7, radius * 1.4, radius * 1.4);
    context.fill();
    const isAtFault = ((frame && frame.step.at_fault) || []).includes(vertex);
    const mark = isAtFault || vertex === state.node ? 2 : state.holders.has(vertex) ? 1 : 0;
    if (!mark) return;
    context.strokeStyle = colour(isAtFault ? "--fault" : "--chosen");
    context.lineWidth = mark === 2 ? 3 : 1.5;
    context.beginPath();
    context.arc(x, y, radius + 2.5, 0, 7);
    context.stroke();
  });
  return points;
}

// Returns the bytes that groups of nodes send to each other: in a step, or in the whole schedule if
// the page does not have the messages.
function matrixOf(schedule, frame) {
  if (!schedule.complete) return { cells: schedule.load.matrix, bucket: schedule.load.bucket };
  const bucket = Math.ceil(schedule.nodes / 128);
  const side = Math.ceil(schedule.nodes / bucket);
  const cells = Array.from({ length: side }, () => new Array(side).fill(0));
  for (const { from, to, bytes } of frame ? frame.sends : []) cells[Math.floor(from / bucket)][Math.floor(to / bucket)] += bytes;
  return { cells, bucket };
}

// Draws bytes by sender (rows) and receiver (columns).
function drawMatrix({ cells }, state, canvas) {
  canvas.style.height = "";
  const { context, width, height } = prepared(canvas);
  const side = Math.min(width, height) / cells.length;
  const left = (width - side * cells.length) / 2;
  cells.forEach((row, y) =>
    row.forEach((bytes, x) => {
      context.fillStyle = bytes ? heat(bytes, state.most) : colour("--idle");
      context.fillRect(left + x * side, y * side, Math.max(side - (side > 4 ? 1 : 0), 0.5), Math.max(side - (side > 4 ? 1 : 0), 0.5));
    }),
  );
}

// Returns the time of the longest step.
const longestOf = (frames) => Math.max(...frames.map((frame) => total(frame.step.times)), 0);

// Draws a bar for each step, which is divided into the parts of its time. A bar of the time `longest`
// fills the canvas.
function drawBars(frames, current, longest, canvas) {
  const { context, width, height } = prepared(canvas);
  const room = Math.min(width / Math.max(frames.length, 1), 40);
  frames.forEach(({ step }, i) => {
    let y = height - 6;
    for (const [part, us] of Object.entries(step.times)) {
      const high = longest ? (us / longest) * (height - 8) : 0;
      y -= high;
      context.fillStyle = colour(`--${part}`);
      context.fillRect(i * room, y, Math.max(room - (room > 3 ? 1 : 0), 0.5), high);
    }
    if (i + 1 !== current) return;
    context.fillStyle = colour("--chosen");
    context.fillRect(i * room, height - 4, Math.max(room - 1, 2), 4);
  });
  return room;
}

// ---------------------------------------------------------------------------------------- Page

// Creates the part of the page that shows one schedule. Returns a function that shows a step, and a
// function that returns the largest value of what the colours show.
function createPane(schedule, state, goTo, chooseNode) {
  const pane = document.getElementById("pane").content.cloneNode(true).firstElementChild;
  const find = (selector) => pane.querySelector(selector);
  const write = (selector, text) => (find(selector).textContent = text);
  const { algorithm, topology, workload, machine } = schedule.trace.schedule;
  const { frames, nodes } = schedule;
  write("h2", algorithm);
  const time = schedule.time_us == null ? "" : `, ${timeText(schedule.time_us)}`;
  const left = schedule.complete ? "" : " The schedule is too large for this page, which therefore shows the load of all steps together, and no messages.";
  const { status, reason, verified, messages } = schedule.trace.outcome;
  const result = status === "ok" ? `verified ${verified}, ${plural(frames.length, "step")}, ${plural(messages, "message")}${time}` : `${status}, ${plural(frames.length, "step")} up to the fault`;
  write(".case", `${workload} on ${topology}, ${machine}: ${result}.${left}`);
  write(".fault", reason);
  find(".fault").hidden = status === "ok";
  let [points, room] = [[], 1];
  find(".picture").addEventListener("click", (event) => {
    const distance = ([x, y]) => Math.hypot(x - event.offsetX, y - event.offsetY);
    const closest = points.slice(0, nodes).reduce((best, point, i) => (distance(point) < distance(points[best]) ? i : best), 0);
    if (points.length && distance(points[closest]) < 20) chooseNode(closest);
  });
  find(".bars").addEventListener("click", (event) => goTo(Math.min(frames.length, Math.floor(event.offsetX / room) + 1)));
  document.getElementById("panes").append(pane);

  const fillList = (selector, lines) => {
    const shown = lines.slice(0, 200);
    if (lines.length > shown.length) shown.push(`and ${lines.length - shown.length} more`);
    find(selector).replaceChildren(...shown.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  };

  // Returns the largest value of what the colours show. It is that of all steps, so that colours of
  // different steps can be compared.
  const maxima = new Map();
  const mostOf = (what) => {
    if (!maxima.has(what)) {
      const values = {
        held: (frame) => frame.step.held || [0],
        matrix: (frame) => matrixOf(schedule, frame).cells.flat(),
        messages: (frame) => [...loadsOf(frame).values()].map((load) => load.messages),
        bytes: (frame) => [...loadsOf(frame).values()].map((load) => load.bytes),
      }[what];
      const max = (list) => list.reduce((a, b) => Math.max(a, b), 0);
      maxima.set(what, max((schedule.complete || what !== "matrix" ? frames : [frames[0]]).map((frame) => max(values(frame)))));
    }
    return maxima.get(what);
  };

  const showPicture = (frame, holders) => {
    const isMatrix = state.picture === "matrix" || !schedule.network || (!schedule.complete && state.quantity !== "held");
    // The data in nodes may be unknown.
    const quantity = state.quantity === "held" && frame && !frame.step.held ? "messages" : state.quantity;
    const what = isMatrix ? "matrix" : quantity;
    const most = state.most(what);
    const view = { ...state, quantity, most, holders: new Set(holders) };
    const unit = { held: "bytes held by a node", matrix: "bytes from a sender (row) to a receiver (column)", messages: "messages on a link", bytes: "bytes on a link" }[what];
    if (isMatrix) drawMatrix(matrixOf(schedule, frame), view, find(".picture"));
    points = isMatrix ? [] : drawNetwork(schedule, frame, view, find(".picture"));
    const bucket = isMatrix ? matrixOf(schedule, frame).bucket : 1;
    // If all loads are one message, there is only one colour.
    const hasRamp = what !== "messages" || most > 1;
    write(".least", `${unit}${bucket > 1 ? `, in groups of ${bucket} nodes` : ""}: ${what === "messages" ? 1 : "more than 0"}`);
    write(".most", what !== "messages" ? sizeText(most) : hasRamp ? `${most}` : "");
    find(".ramp").classList.toggle("single", !hasRamp);
    const label = isMatrix ? "Matrix of senders and receivers" : `Network of ${plural(nodes, "node")}`;
    find(".picture").setAttribute("aria-label", `${label}, coloured by ${unit}, at most ${most}. ${pane.querySelector(".now").textContent}`);
  };

  const showTimes = (frame, k) => {
    room = drawBars(frames, k, state.longest, find(".bars"));
    write(".bars-title", state.longest ? `Time of each step, from 0 to ${timeText(state.longest)}` : "Time of each step");
    // Before the first step, the legend has the sums over all steps.
    const sums = {};
    for (const { step } of frame ? [frame] : frames) for (const [part, us] of Object.entries(step.times)) sums[part] = (sums[part] || 0) + us;
    const times = Object.entries(sums);
    const until = frames.slice(0, k).reduce((sum, { step }) => sum + total(step.times), 0);
    const keys = times.map(([part, us]) => {
      const key = Object.assign(document.createElement("span"), { className: "key" });
      key.style.background = `var(--${part})`;
      const entry = Object.assign(document.createElement("span"), { className: "part" });
      entry.append(key, `${part} ${timeText(us)}`);
      return entry;
    });
    const ofStep = frame ? `Step ${k}: ${timeText(total(sums))}, ends at ${timeText(until)}.` : `All steps: ${timeText(total(sums))}.`;
    const text = times.length ? ofStep : frame && frame.step.at_fault ? "" : "The model of this machine has no times of steps.";
    find(".parts").replaceChildren(`${text} `, ...keys);
    find(".bars").setAttribute("aria-label", `Bar chart of the times of ${plural(frames.length, "step")}. ${find(".parts").textContent}`);
  };

  const showNode = (frame, k) => {
    const node = state.node;
    const isKnown = node < nodes;
    write(".node-title", isKnown ? `Node ${nameOf(schedule, node)}` : `Node ${node}: there are only ${nodes} nodes`);
    const sends = frame && isKnown ? frame.sends : [];
    const list = (from, to) => sends.filter((send) => send[from] === node && send[to] !== node).map((send) => `${nameOf(schedule, send[to])} (${sizeText(send.bytes)})`);
    const some = (words) => (words.length > 12 ? `${words.slice(0, 12).join(", ")} and ${words.length - 12} more` : words.join(", ") || "none");
    const held = frame && frame.step.held && isKnown ? ` It holds ${sizeText(frame.step.held[node])} after this step.` : "";
    write(".sends", schedule.complete && frame && isKnown ? `Sends to: ${some(list("from", "to"))}. Receives from: ${some(list("to", "from"))}.${held}` : held);
    fillList(".holds", schedule.by && isKnown ? holdingLines(schedule, holdings(schedule, node, k), node) : []);
    // A page without messages may know nothing about the node.
    find(".node-title").hidden = !schedule.complete && !held;
  };

  const showBlock = (k) => {
    const { by } = schedule;
    if (!by) {
      write(".block-title", "Block");
      find(".block-title").hidden = !schedule.complete;
      write(".where", schedule.complete ? "This schedule moves byte counts, not blocks." : "");
      fillList(".route", []);
      return [];
    }
    const { origin, destination, segment } = state.block;
    const names = [by.origins && `from ${origin}`, by.destinations && `${schedule.inParts ? ", part" : " for"} ${destination}`, schedule.segments > 1 && `, segment ${segment}`];
    const isPair = by.origins && by.destinations;
    if (isPair && !communicatorOf(schedule, origin).includes(destination)) {
      write(".block-title", "Block");
      write(".where", `There is no block from ${origin} for ${destination}, because they are not in the same communicator.`);
      fillList(".route", []);
      return [];
    }
    const { holders, route } = journey(schedule, state.block, k);
    write(".block-title", `Block ${names.filter(Boolean).join("").replace(/^[ ,]+/, "")}`);
    write(".where", `Held by ${holders.length > 1 ? "nodes" : "node"} ${rangesText(holders)}${k ? ` after step ${k}` : " at the start"}.`);
    const number = (send) => frames.findIndex(({ step }) => step.at >= send.step) + 1;
    fillList(".route", route.map((send) => `step ${number(send)}: ${send.from} to ${send.to}${send.from === send.to ? " (local copy)" : send.path && send.path.length > 2 ? ` by ${send.path.slice(1, -1).join(", ")}` : ""}${send.combine ? ", combined" : ""}`));
    return holders;
  };

  const show = (step) => {
    const k = Math.min(step, frames.length);
    const frame = k ? frames[k - 1] : null;
    const { phase, messages, longest, hops, link_messages } = frame ? frame.step : {};
    const fault = frame && frame.step.at_fault;
    const broken = fault ? ` The send from ${nameOf(schedule, fault[0])} to ${nameOf(schedule, fault[1])} breaks a rule.` : "";
    write(".now", frame ? `Step ${k} of ${frames.length}${phase ? `, ${phase}` : ""}: ${plural(messages, "message")}, longest ${sizeText(longest)} over ${plural(hops, "hop")}, at most ${plural(link_messages, "message")} on a link.${broken}` : "Before the first step.");
    find(".now").setAttribute("aria-live", state.playing ? "off" : "polite");
    const holders = showBlock(k);
    showPicture(frame, holders);
    showTimes(frame, k);
    showNode(frame, k);
  };
  return { show, mostOf };
}

async function start() {
  const byId = (id) => document.getElementById(id);
  const schedules = (await decode(byId("data").textContent)).map(prepare);
  const last = Math.max(...schedules.map((schedule) => schedule.frames.length));
  // A page with a wrong schedule begins at the fault, which is in the last step.
  const isWrong = schedules.some((schedule) => schedule.trace.outcome.status !== "ok");
  const state = { step: isWrong ? last : 0, playing: false, quantity: "messages", picture: "network", node: 0, block: { origin: 0, destination: communicatorOf(schedules[0], 0)[1] || 1, segment: 0 } };
  let timer = 0;
  byId("player").hidden = false;

  const show = () => {
    byId("step").value = state.step;
    byId("position").textContent = `${state.step} / ${last}`;
    byId("play").textContent = state.playing ? "Pause" : "Play";
    byId("step").setAttribute("aria-valuetext", `step ${state.step} of ${last}`);
    panes.forEach((pane) => pane.show(state.step));
  };
  const goTo = (step) => {
    state.step = Math.max(0, Math.min(last, step));
    show();
  };
  const play = (playing) => {
    clearInterval(timer);
    state.playing = playing;
    if (playing && state.step >= last) state.step = 0;
    if (playing) timer = setInterval(() => (state.step < last ? goTo(state.step + 1) : play(false)), 1000 / byId("speed").value);
    show();
  };
  const chooseNode = (node) => {
    byId("node").value = state.node = node;
    show();
  };
  const faster = (by) => {
    const speed = byId("speed");
    speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by));
    play(state.playing);
  };
  const panes = schedules.map((schedule) => createPane(schedule, state, goTo, chooseNode));
  // The schedules have the same scales of colours and of bars, so that they can be compared.
  state.longest = Math.max(...schedules.map(({ frames }) => longestOf(frames)));
  state.most = (what) => Math.max(...panes.map((pane) => pane.mostOf(what)));

  const actions = { first: () => goTo(0), back: () => goTo(state.step - 1), play: () => play(!state.playing), next: () => goTo(state.step + 1), last: () => goTo(last) };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  const keys = { " ": actions.play, ArrowLeft: actions.back, ArrowRight: actions.next, Home: actions.first, End: actions.last, "+": () => faster(1), "-": () => faster(-1) };
  document.addEventListener("keydown", (event) => {
    // Form elements and buttons have keys of their own.
    const own = event.target.closest(event.key === " " ? "input, select, button" : "input, select");
    if (own || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const on = (id, event, change) =>
    byId(id).addEventListener(event, () => {
      change(byId(id).value);
      show();
    });
  byId("step").max = last;
  byId("step").addEventListener("input", () => goTo(+byId("step").value));
  byId("speed").addEventListener("change", () => play(state.playing));
  for (const id of ["quantity", "picture"]) on(id, "change", (value) => (state[id] = value));
  on("node", "input", (value) => (state.node = Math.max(0, Math.floor(+value))));
  for (const id of ["origin", "destination", "segment"]) on(id, "input", (value) => (state.block[id] = Math.max(0, Math.floor(+value))));
  const largest = Math.max(...schedules.map((schedule) => schedule.nodes));
  for (const id of ["node", "origin", "destination"]) byId(id).max = largest - 1;
  byId("segment").max = Math.max(...schedules.map((schedule) => schedule.segments)) - 1;
  byId("segment").parentElement.hidden = byId("segment").max === "0";
  byId("block").hidden = schedules.every((schedule) => !schedule.by);
  if (schedules.every((schedule) => !schedule.network)) byId("picture").parentElement.hidden = true;
  window.addEventListener("resize", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

start().catch((error) => {
  const place = document.getElementById("error");
  place.hidden = false;
  place.textContent = `The page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
