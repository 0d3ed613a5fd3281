//! The partition of nodes among cycles in a rotation of a torus by 90 degrees. C. C. Spencer's
//! thesis (1994) shows an example in Fig. 4.12 and gives no rule. The rule here was developed for
//! this project.
//!
//! The thesis rotates along concentric squares ([`Square`]); every node lies on two of them. It
//! states that the shorter squares should have more of the nodes, so that no link is used more than
//! n/4 times (section 4.4.2, formula 4.22: (2 log_(2q+1)(n/4q) + 1) alpha + (3n + n/4q - 4) delta +
//! (n/4 + n/4q - 1) L tau). [`sections`] finds such a partition and the collector of each section.
//! The transport along the squares is that of the thesis, and is implemented in the plugin
//! `spencer` (`torus-permutation:form=balanced`).

mod partition;
mod share;
mod squares;

pub use partition::{Parameters, Section, sections};
pub use squares::Square;
