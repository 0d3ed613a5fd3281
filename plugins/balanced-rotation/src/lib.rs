//! Rotation of a torus by 90 degrees: the choice of the cycle along which the block of each node
//! moves.
//!
//! C. C. Spencer's thesis (1994) moves the blocks along concentric squares ([`Square`]). Every node
//! lies on two squares, and its block moves along one of the two. The thesis states that the
//! shorter squares should be used by more of the nodes, so that no link is used more than n/4
//! times, where n is the number of nodes of a row (section 4.4.2, formula 4.22). The thesis shows
//! one example of such a choice (Fig. 4.12) but gives no rule for it. The rule in this crate was
//! developed for this project.
//!
//! According to formula 4.22, the time is `(2 log_(2q+1)(n/4q) + 1) alpha + (3n + n/4q - 4) delta +
//! (n/4 + n/4q - 1) L tau`. q is the number of circuits that a link carries at the same time. alpha
//! is the start-up time of a round, delta is the switching time of a link, and L tau is the time of
//! one block on a link.
//!
//! [`sections`] assigns each node to a square, divides the nodes of a square into sections, and
//! selects the collector of each section. The collector is the node that gathers the blocks of its
//! section. The plugin `spencer` transports the blocks along the squares as the thesis describes
//! (`torus-permutation:form=balanced`).

mod partition;
mod share;
mod squares;

pub use partition::{Parameters, Section, sections};
pub use squares::Square;
