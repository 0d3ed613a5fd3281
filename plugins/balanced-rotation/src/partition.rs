//! Which nodes take which cycle in a rotation by 90 degrees, and which are collected together: the
//! partition that Fig. 4.12 b shows one example of, and the text has no rule for. The rule is ours.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n, N | `n`, `4 * side` | nodes of a row, of a cycle |
//! | q | `q` | circuits that a directed link carries |
//! | M / q | `size` | nodes of a section, n/4q |
//!
//! A collector's circuit leads a quarter of the cycle forwards or three quarters backwards. So the
//! links of a cycle, whatever its length, have room for q forwards circuits from every quarter, if
//! they begin at the same places in each; for floor(q/3) backwards ones from every quarter
//! likewise; and for q mod 3 more that begin anywhere.
//!
//! Cycles of fewer than n/4 nodes a quarter leave an eighth of all nodes to the longer ones, which
//! send them backwards.
//!
//! With three channels or more every quarter of a cycle is divided alike, and the nodes that the
//! rotation exchanges take the same cycle. With fewer, the q mod 3 circuits matter: forwards
//! collectors are put at fixed places, and what lies between two of them goes to either or, where a
//! section that goes backwards lies between, to that.

use crate::share::share;
use crate::squares::Square;

/// Nodes of one cycle, one after another but for those that take the other cycle they are on,
/// collected by one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Which of the squares it lies on.
    pub ring: usize,
    /// Whether its circuit leads a quarter of the cycle forwards, and not three quarters back.
    pub forward: bool,
    /// Their places on the cycle, ascending, counted round and round.
    pub places: Vec<i64>,
    /// Which of them collects.
    pub at: usize,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Nodes of a row.
    pub n: u64,
    /// Circuits that a directed link carries.
    pub q: u64,
    /// Whether a node uses one port at a time: then the first of a section collects.
    pub one_port: bool,
}

/// The most nodes of a section before and after the collector.
#[derive(Debug, Clone, Copy)]
struct Reach {
    before: usize,
    after: usize,
}

impl Reach {
    fn of(size: usize, one_port: bool) -> Self {
        let before = if one_port { 0 } else { size / 2 };
        Self { before, after: size - 1 - before }
    }

    fn size(self) -> usize {
        self.before + self.after + 1
    }

    /// The collector among so many nodes.
    fn at(self, count: usize) -> usize {
        self.before.min(count / 2)
    }
}

/// Where the forwards collectors are, and between which of them a section may go backwards.
#[derive(Debug, Clone, Copy)]
struct Anchors {
    /// How far along each side, in parts of [`PARTS`].
    along: [usize; 2],
    /// The gaps of cycle k about the centre: `step` times k, and for the second half a cycle on.
    step: usize,
    /// About the corner `shift` more.
    shift: usize,
}

const PARTS: usize = 24;

impl Anchors {
    /// The places on one side.
    fn of_side(&self, side: usize) -> Vec<i64> {
        let [a, b] = self.along.map(|along| (along * side / PARTS) as i64);
        match self.along {
            [along, same] if along == same || side == 1 => vec![a],
            _ if a < b => vec![a, b],
            _ if a == 0 => vec![0, 1],
            _ => vec![a - 1, a],
        }
    }
}

/// With two channels: no rule is known by which collectors fit every torus. These fit most, and the
/// larger it is the more of all that might be tried.
const USUAL: [Anchors; 4] = [
    Anchors { along: [4, 16], step: 2, shift: 0 },
    Anchors { along: [4, 14], step: 1, shift: 2 },
    Anchors { along: [10, 22], step: 2, shift: 0 },
    Anchors { along: [2, 15], step: 2, shift: 0 },
];

/// The most nodes of a row for which all others are tried, which takes the longer the more there
/// are.
const SEARCHED: u64 = 40;

/// Sections as small as can be found; none are larger than a row.
pub fn sections(rings: &[Square], ask: Ask) -> Option<Vec<Section>> {
    let least = ask.n.div_ceil(4 * ask.q).max(1) as usize;
    (least..=ask.n as usize).find_map(|size| of_size(rings, ask, Reach::of(size, ask.one_port)))
}

fn of_size(rings: &[Square], ask: Ask, reach: Reach) -> Option<Vec<Section>> {
    let anchored = |anchors: Anchors| around(rings, ask, reach, anchors);
    match ask.q {
        // The middle of each side. Of opposite sides, cycles about the centre have room in the
        // right or left one by turns, those about the corner in the top or bottom one.
        1 => anchored(Anchors { along: [PARTS / 2; 2], step: 2, shift: 1 }),
        2 => USUAL.into_iter().chain(pairs().filter(|_| ask.n <= SEARCHED)).find_map(anchored),
        _ => alike(rings, ask, reach),
    }
}

/// Any two collectors a side.
fn pairs() -> impl Iterator<Item = Anchors> {
    let along = (0..PARTS).flat_map(|a| (a + 1..PARTS).map(move |b| [a, b]));
    along.flat_map(|along| {
        [1, 2]
            .into_iter()
            .flat_map(move |step| (0..8).map(move |shift| Anchors { along, step, shift }))
    })
}

/// What takes one of two cycles: those about the centre and about the corner, in this order.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    bins: [usize; 2],
    /// How far from where it would be collected.
    far: [usize; 2],
}

/// The cycle each takes: as far as there is room the one on which it is nearer to where it would be
/// collected, so that circuits are short.
fn chosen(items: &[Item], room: &[usize]) -> Option<Vec<usize>> {
    // Those that lose least by it choose last, and are the first to be exchanged.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|item| items[*item].far[0].abs_diff(items[*item].far[1]));
    let nearer = |item: &Item| usize::from(item.far[1] < item.far[0]);
    let bins = |item: &usize| {
        let Item { bins: [centre, corner], .. } = items[*item];
        if nearer(&items[*item]) == 0 { [centre, corner] } else { [corner, centre] }
    };
    let exchanged = share(&order.iter().map(bins).collect::<Vec<_>>(), room)?;
    let mut chosen = vec![0; items.len()];
    for (item, exchanged) in order.into_iter().zip(exchanged) {
        chosen[item] = if exchanged == 0 { nearer(&items[item]) } else { 1 - nearer(&items[item]) };
    }
    Some(chosen)
}

/// Every quarter alike: sections forwards, and from the (q+1)st on backwards.
fn alike(rings: &[Square], ask: Ask, reach: Reach) -> Option<Vec<Section>> {
    let (n, size) = (ask.n as usize, reach.size());
    // A node and its three images are one item, by the one of them in the quarter of the plane
    // above the centre and right of it.
    let half = n / 2;
    let item = |(x, y): (u64, u64)| {
        (x as usize >= half && y as usize >= half)
            .then(|| (x as usize - half) * half + y as usize - half)
    };
    let mut items = vec![Item::default(); half * half];
    for (i, ring) in rings.iter().enumerate() {
        for (place, item) in
            ring.cells.iter().enumerate().filter_map(|(place, cell)| Some((place, item(*cell)?)))
        {
            items[item].bins[ring.about] = i;
            items[item].far[ring.about] = (2 * (place % ring.side) + 1).abs_diff(ring.side);
        }
    }
    let room = ((ask.q + ask.q / 3) as usize).saturating_mul(size);
    let chosen = chosen(&items, &vec![room; rings.len()])?;
    let mut sections = Vec::new();
    for (i, ring) in rings.iter().enumerate() {
        let side = ring.side as i64;
        let taken = |cell| item(cell).is_some_and(|item| chosen[item] == ring.about);
        let quarter: Vec<i64> = (0..side)
            .filter(|place| (0..4).any(|turn| taken(ring.cell(place + turn * side))))
            .collect();
        let count = quarter.len().div_ceil(size).max((ask.q as usize).min(quarter.len()));
        for turn in 0..4 {
            for (k, (first, end)) in even(quarter.len(), count).enumerate() {
                let places: Vec<i64> =
                    quarter[first..end].iter().map(|place| place + turn * side).collect();
                let at = reach.at(places.len());
                sections.push(Section { ring: i, forward: k < ask.q as usize, places, at });
            }
        }
    }
    Some(sections)
}

/// Around collectors at the same places of every quarter.
fn around(rings: &[Square], ask: Ask, reach: Reach, anchors: Anchors) -> Option<Vec<Section>> {
    const NONE: usize = usize::MAX;
    let n = ask.n;
    let index = |(x, y): (u64, u64)| (x * n + y) as usize;
    // A node that is such a place on both its cycles collects on the first.
    let mut collects = vec![NONE; (n * n) as usize];
    let mut places: Vec<Vec<i64>> = Vec::with_capacity(rings.len());
    for (i, ring) in rings.iter().enumerate() {
        let of_side = anchors.of_side(ring.side);
        let mut own: Vec<i64> = (0..4)
            .flat_map(|turn| of_side.iter().map(move |place| place + turn * ring.side as i64))
            .collect();
        own.retain(|place| {
            let node = &mut collects[index(ring.cell(*place))];
            let free = *node == NONE;
            if free {
                *node = i;
            }
            free
        });
        places.push(own);
    }
    // A bin for the gap that follows each collector.
    let mut room = Vec::new();
    let mut backward = Vec::new();
    let mut items = vec![Item { bins: [NONE; 2], far: [0; 2] }; (n * n) as usize];
    for (i, ring) in rings.iter().enumerate() {
        let count = places[i].len();
        let gap = anchors.step * ring.number + anchors.shift * ring.about;
        for (k, place) in places[i].iter().enumerate() {
            let more = (0..ask.q as usize).filter(|j| (gap + j * count / 2) % count == k).count();
            let next = places[i].get(k + 1).copied().unwrap_or(places[i][0] + 4 * ring.side as i64);
            for between in place + 1..next {
                let item = &mut items[index(ring.cell(between))];
                item.bins[ring.about] = room.len();
                item.far[ring.about] = (between - place).min(next - between) as usize;
            }
            backward.push(more);
            room.push(reach.size() * (1 + more) - 1);
        }
    }
    let free: Vec<usize> = (0..items.len()).filter(|node| collects[*node] == NONE).collect();
    let items: Vec<Item> = free.iter().map(|node| items[*node]).collect();
    if items.iter().flat_map(|item| item.bins).any(|bin| bin == NONE) {
        return None;
    }
    let chosen = chosen(&items, &room)?;
    let mut takes = vec![NONE; collects.len()];
    free.iter().zip(&chosen).for_each(|(node, about)| takes[*node] = *about);
    let mut sections = Vec::new();
    let mut gaps = backward.into_iter();
    for (i, ring) in rings.iter().enumerate() {
        let own = &places[i];
        let first = sections.len();
        sections.extend(own.iter().map(|place| Section {
            ring: i,
            forward: true,
            places: vec![*place],
            at: 0,
        }));
        for (k, more) in (0..own.len()).zip(&mut gaps) {
            let next = own.get(k + 1).copied().unwrap_or(own[0] + 4 * ring.side as i64);
            let between: Vec<i64> = (own[k] + 1..next)
                .filter(|place| takes[index(ring.cell(*place))] == ring.about)
                .collect();
            let (after, before) = parted(between.len(), reach, more);
            sections[first + k].places.extend(&between[..after]);
            let middle = &between[after..between.len() - before];
            for (from, end) in even(middle.len(), more.min(middle.len())) {
                let places = middle[from..end].to_vec();
                let at = reach.at(places.len());
                sections.push(Section { ring: i, forward: false, places, at });
            }
            // The next collector's turn round the cycle is one less if it is the first.
            let (last, turn) =
                if k + 1 < own.len() { (first + k + 1, 0) } else { (first, 4 * ring.side as i64) };
            let ahead: Vec<i64> =
                between[between.len() - before..].iter().map(|place| place - turn).collect();
            sections[last].at = ahead.len();
            sections[last].places.splice(0..0, ahead);
        }
    }
    Some(sections)
}

/// Of so many nodes between two collectors, how many go to the one they follow, and how many to the
/// one they precede; the rest go backwards.
fn parted(count: usize, reach: Reach, backward: usize) -> (usize, usize) {
    let after = reach
        .after
        .min(count / 2)
        .max((count * usize::from(backward == 0)).saturating_sub(reach.before));
    (after, reach.before.min(count - after))
}

/// `count` in near-equal stretches.
fn even(count: usize, stretches: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..stretches).map(move |i| (i * count / stretches, (i + 1) * count / stretches))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every node in one section, no link of a cycle within two sections, none with more than q
    /// circuits in the middle round. The largest section.
    fn check(n: u64, q: u64, one_port: bool) -> usize {
        let rings = Square::all(n);
        let sections = sections(&rings, Ask { n, q, one_port }).unwrap_or_default();
        let mut times = vec![0; (n * n) as usize];
        for (i, ring) in rings.iter().enumerate() {
            let around = 4 * ring.side as i64;
            let mut within = vec![0; around as usize];
            let mut loads = vec![[0; 2]; around as usize];
            for section in sections.iter().filter(|section| section.ring == i) {
                for place in &section.places {
                    let (x, y) = ring.cell(*place);
                    times[(x * n + y) as usize] += 1;
                }
                assert!(section.places.is_sorted());
                let (first, last) = (section.places[0], section.places[section.places.len() - 1]);
                (first..last).for_each(|link| within[link.rem_euclid(around) as usize] += 1);
                let at = section.places[section.at];
                let back = usize::from(!section.forward);
                let passed =
                    if section.forward { at..at + around / 4 } else { at - around * 3 / 4..at };
                passed.for_each(|link| loads[link.rem_euclid(around) as usize][back] += 1);
            }
            assert!(within.iter().all(|sections| *sections <= 1), "{n}, q = {q}: sections overlap");
            assert!(
                loads.iter().flatten().all(|load| *load <= q),
                "{n}, q = {q}: more than q circuits"
            );
        }
        assert!(
            times.iter().all(|times| *times == 1),
            "{n}, q = {q}: a node is in no section, or two"
        );
        sections.iter().map(|section| section.places.len()).max().unwrap_or(0)
    }

    #[test]
    fn sections_are_disjoint_fit_q_circuits_a_link_and_are_of_n_4q_nodes() {
        for one_port in [false, true] {
            for q in 1..=9 {
                for n in (2..=40).step_by(2) {
                    assert_eq!(
                        check(n, q, one_port),
                        n.div_ceil(4 * q) as usize,
                        "{n}, q = {q}, one port: {one_port}"
                    );
                }
            }
        }
    }

    #[test]
    fn so_they_are_on_larger_tori_without_a_search() {
        for (n, q) in [(108, 1), (200, 1), (64, 2), (120, 2), (200, 2), (180, 3), (160, 4)] {
            assert_eq!(check(n, q, false), n.div_ceil(4 * q) as usize, "{n}, q = {q}");
        }
    }
}
