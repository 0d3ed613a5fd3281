//! Which nodes take which cycle in a rotation of a torus by 90 degrees: ours, where C. C. Spencer's
//! thesis (1994) has Fig. 4.12 and no rule.
//!
//! The thesis rotates along concentric squares ([`Square`]), of which every node is on two, and
//! says that the shorter of them should have more of the nodes, so that no link is crossed more
//! often than n/4 times (section 4.4.2, formula 4.22: (2 log_(2q+1)(n/4q) + 1) alpha + (3n + n/4q -
//! 4) delta + (n/4 + n/4q - 1) L tau). [`sections`] finds such a partition, and who collects whom
//! in it; what is done along the squares is the thesis's, and lies in the plugin `spencer`
//! (`torus-permutation:form=balanced`).

mod partition;
mod share;
mod squares;

pub use partition::{Ask, Section, sections};
pub use squares::Square;
