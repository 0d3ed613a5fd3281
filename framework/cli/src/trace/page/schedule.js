"use strict";

// The schedule of the page: its data, and texts about it. Nothing here uses the page itself.

// ---------------------------------------------------------------------------------------- Data

// Decodes the data of the page, which is JSON, compressed by zlib and encoded in Base64.
async function decode(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Sorts the sends of a schedule into frames. There is one frame for each step with messages between
// nodes; local copies that have a step of their own belong to the frame of the next step. Different
// communicators may have different schedules, whose events follow each other; step t of all of them
// is one frame.
function prepare(schedule) {
  const frames = schedule.steps.map((step) => ({ step, sends: [], loads: null }));
  const events = schedule.trace.events;
  const { nodes, communicators = [Array.from({ length: nodes }, (_, rank) => rank)] } = schedule.trace.schedule;
  const segmentsOf = communicators.map(() => 1);
  let [k, of] = [0, [0, communicators.length - 1]];
  for (const event of events) {
    if (event.communicators) [k, of] = [0, event.communicators];
    else if (event.layout) segmentsOf.fill(event.layout.segments, of[0], of[1] + 1);
    else if (event.end_of_step) k = Math.min(event.end_of_step, frames.length - 1);
    else if (event.from !== undefined && frames.length) frames[k].sends.push(event);
  }
  const layout = (events.find((event) => event.layout) || { layout: {} }).layout;
  const box = frames.flatMap((frame) => frame.sends).find((send) => send.blocks && send.blocks.length);
  return {
    ...schedule,
    frames,
    nodes,
    communicators,
    // The number of segments of a block: of the blocks of each communicator, and the largest one.
    segmentsOf,
    segments: Math.max(...segmentsOf),
    // The coordinates that distinguish blocks. A schedule of byte counts has none.
    by: box ? { origins: !!box.blocks[0].origins, destinations: !!box.blocks[0].destinations } : null,
    inParts: !!layout.in_parts,
  };
}

const PAIR = 2 ** 26;

// Returns the load of each directed link in a frame. A key is `from * PAIR + to`.
function loadsOf(frame) {
  if (frame.loads) return frame.loads;
  const [loads, seen] = [new Map(), new Set()];
  for (const { from, to, path = [], signs = [], bytes } of frame.sends) {
    // Sends of the same step with the same ends and route form one message.
    const message = [from, to, path, signs].join(";");
    const isNew = !seen.has(message);
    seen.add(message);
    for (let i = 1; i < path.length; i++) {
      const key = path[i - 1] * PAIR + path[i];
      const load = loads.get(key) || { messages: 0, bytes: 0 };
      load.messages += isNew ? 1 : 0;
      load.bytes += bytes;
      loads.set(key, load);
    }
  }
  return (frame.loads = loads);
}

// Returns the ranks of the communicator of a node, in the order of its members.
const communicatorOf = (schedule, node) => schedule.communicators.find((ranks) => ranks.includes(node)) || [];

const within = (ranges, number) => !ranges || ranges.some(([first, last]) => first <= number && number <= last);

// Returns whether a send moves a block.
function carries(send, block) {
  const holds = (box) => within(box.origins, block.origin) && within(box.destinations, block.destination) && within(box.segments, block.segment);
  return (send.blocks || []).some(holds);
}

// Calls `leave` and `arrive` for the sends of the first `count` frames. Data that arrives in a step
// can be sent in the next step, so in each step all sends leave before the first one arrives.
function replay(schedule, count, leave, arrive) {
  for (const { sends } of schedule.frames.slice(0, count)) {
    for (let i = 0; i < sends.length; ) {
      let end = i;
      while (end < sends.length && sends[end].step === sends[i].step) end += 1;
      const group = sends.slice(i, end);
      group.filter((send) => !send.copy).forEach(leave);
      group.forEach(arrive);
      i = end;
    }
  }
}

// Returns the nodes that hold a block after `count` steps, and the sends that have moved it.
function journey(schedule, block, count) {
  // A root is a member of a communicator. Blocks without a destination are those of all communicators.
  const { by, communicators } = schedule;
  const those = by.destinations ? [communicatorOf(schedule, block.destination)] : communicators;
  const holders = new Set(schedule.starts_at_root ? those.map((ranks) => ranks[schedule.trace.schedule.root]) : [block.origin]);
  const route = [];
  replay(
    schedule,
    count,
    (send) => carries(send, block) && holders.delete(send.from),
    (send) => {
      if (!carries(send, block)) return;
      holders.add(send.to);
      route.push(send);
    },
  );
  return { holders: [...holders].sort((a, b) => a - b), route };
}

const numbers = (ranges, all) => {
  if (!ranges) return [0];
  return ranges.flatMap(([first, last]) => Array.from({ length: Math.min(last, all - 1) - first + 1 }, (_, i) => first + i));
};

// Returns the number of segments of the blocks of a node's communicator.
const segmentsAt = (schedule, node) => schedule.segmentsOf[schedule.communicators.findIndex((ranks) => ranks.includes(node))] || 1;

// Returns the blocks that a node holds after `count` steps: for each origin, a set of numbers
// `destination * segments + segment`.
function holdings(schedule, node, count) {
  const { by, nodes, segments } = schedule;
  const held = new Map();
  const each = (box, visit) => {
    for (const origin of numbers(box.origins, nodes)) {
      for (const destination of numbers(box.destinations, nodes)) {
        for (const segment of numbers(box.segments, segments)) visit(origin, destination * segments + segment);
      }
    }
  };
  const add = (origin, rest) => {
    if (!held.has(origin)) held.set(origin, new Set());
    held.get(origin).add(rest);
  };
  const remove = (origin, rest) => held.has(origin) && held.get(origin).delete(rest);
  const members = communicatorOf(schedule, node);
  const all = runsOf([...members].sort((a, b) => a - b));
  const starts = schedule.starts_at_root ? node === members[schedule.trace.schedule.root] : true;
  if (starts) {
    const own = schedule.starts_at_root ? all : [[node, node]];
    each({ origins: by.origins && own, destinations: by.destinations && all, segments: segments > 1 && [[0, segmentsAt(schedule, node) - 1]] }, add);
  }
  replay(
    schedule,
    count,
    (send) => send.from === node && send.blocks.forEach((box) => each(box, remove)),
    (send) => send.to === node && send.blocks.forEach((box) => each(box, add)),
  );
  return held;
}

// ---------------------------------------------------------------------------------------- Text

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
  return `${+bytes.toPrecision(4)} ${units[unit]}`;
}

function timeText(time) {
  // Sums of times have rounding errors, which are far below the precision of rows.
  const us = Math.round(time * 1e6) / 1e6;
  if (us >= 1e6) return `${+(us / 1e6).toPrecision(4)} s`;
  return us >= 1e3 ? `${+(us / 1e3).toPrecision(4)} ms` : `${+us.toPrecision(4)} µs`;
}

// Returns the first and the last number of each run of consecutive numbers.
function runsOf(sorted) {
  const runs = [];
  for (const n of sorted) {
    const run = runs[runs.length - 1];
    if (run && run[1] === n - 1) run[1] = n;
    else runs.push([n, n]);
  }
  return runs;
}

// Formats numbers as ranges, such as `0-3, 7`.
const rangesText = (sorted) => runsOf(sorted).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");

// Returns the name of a vertex: its number and, in a grid, its coordinates.
function nameOf(schedule, vertex) {
  const { nodes, radices } = schedule;
  if (vertex >= nodes) return `vertex ${vertex}`;
  if (radices.length < 2 || radices.length > 4 || radices.reduce((a, b) => a * b) !== nodes) return `${vertex}`;
  let rest = vertex;
  const coordinates = [...radices].reverse().map((radix) => {
    const c = rest % radix;
    rest = (rest - c) / radix;
    return c;
  });
  return `${vertex} (${coordinates.reverse().join(",")})`;
}

// Describes the blocks that a node holds in lines. Origins with the same destinations share a line.
function holdingLines(schedule, held, node) {
  const { by, segments, inParts } = schedule;
  const lines = new Map();
  for (const [origin, rests] of [...held].sort((a, b) => a[0] - b[0])) {
    if (!rests.size) continue;
    const sorted = [...rests].sort((a, b) => a - b);
    const destinations = [...new Set(sorted.map((rest) => Math.floor(rest / segments)))];
    const own = segmentsAt(schedule, node);
    const parts = own > 1 ? `, ${plural(sorted.length, "segment")} of ${destinations.length * own}` : "";
    const to = by.destinations ? `${inParts ? ", part" : " for"} ${rangesText(destinations)}` : "";
    const rest = `${to}${parts}`;
    lines.set(rest, [...(lines.get(rest) || []), origin]);
  }
  return [...lines].map(([rest, origins]) => `${by.origins ? `from ${rangesText(origins)}` : "all"}${rest}`);
}

const total = (times) => Object.values(times).reduce((sum, us) => sum + us, 0);

