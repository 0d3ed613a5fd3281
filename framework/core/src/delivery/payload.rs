//! The state of a schedule's data: blocks, tokens or byte counts.

use crate::delivery::byte_counts::TracedBytes;
use crate::delivery::exchange::{Exchange, OrbitExchange, TokenExchange};
pub use crate::delivery::traced::Proof;
use crate::delivery::traced::Traced;
use std::ops::{Deref, DerefMut};

/// The data that all nodes hold. It dereferences to [`Traced`], which has the operations of all
/// kinds of data.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Blocks, traced on every node.
    Blocks(Exchange),
    /// Blocks, traced on one node per orbit.
    Orbits(OrbitExchange),
    /// Tokens of a dispatch or a combine, traced on every node.
    Tokens(TokenExchange),
    /// The number of bytes for each destination, traced on every node.
    ByteCounts(Box<dyn TracedBytes>),
}

impl Deref for Payload {
    type Target = dyn Traced;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Blocks(exchange) => exchange,
            Self::Orbits(exchange) => exchange,
            Self::Tokens(exchange) => exchange,
            Self::ByteCounts(byte_counts) => byte_counts.as_ref(),
        }
    }
}

impl DerefMut for Payload {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Blocks(exchange) => exchange,
            Self::Orbits(exchange) => exchange,
            Self::Tokens(exchange) => exchange,
            Self::ByteCounts(byte_counts) => byte_counts.as_mut(),
        }
    }
}
