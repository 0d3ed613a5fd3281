//! The cycles along which a rotation of a torus by 90 degrees moves the blocks. C. C. Spencer's
//! thesis (1994) moves blocks along concentric squares ([`Square`]). Every node lies on two
//! squares, and its block moves along one of them. The thesis states that more of the nodes should
//! use the shorter than the longer square, so that no link is used more than n/4 times, where n is the number of
//! nodes of a row (section 4.4.2, formula 4.22). It shows one such choice (Fig. 4.12), but no rule.
//!
//! By formula 4.22 the time is `(2 log_(2q+1)(n/4q) + 1) alpha + (3n + n/4q - 4) delta + (n/4 +
//! n/4q - 1) L tau`, where q is the number of circuits that a link carries at the same time, alpha
//! the start-up time of a round, delta the switching time of a link, and L tau the time of one
//! block on a link. [`sections`] assigns nodes to squares, divides the nodes of a square into
//! sections, and selects the collector of each section, which gathers its blocks. The plugin
//! `spencer` transports the blocks (`torus-permutation:form=balanced`).

mod partition;
mod share;
mod squares;

pub use partition::{Parameters, Section, sections};
pub use share::share;
pub use squares::Square;
