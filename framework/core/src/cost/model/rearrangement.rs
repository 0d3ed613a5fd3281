//! Rearrangements of data within nodes, in models of synchronous steps.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_word};
use crate::cost::settings::word_enum;

word_enum! {
    /// The choice of the bytes that count as rearranged.
    pub(super) enum Rearrangement {
        /// The bytes of the rearrangements that the schedule declares. Each algorithm declares what
        /// its paper charges.
        Declared = "declared",
        /// The bytes of every message with more than one block. The sender gathers these blocks,
        /// and the receiver scatters them.
        Packed = "packed",
        /// As `packed`, but only in collectives that distinguish blocks by their origin and by
        /// their destination, such as an all-to-all.
        Exchanges = "exchanges",
    }
}

pub(super) static REARRANGEMENT: TypedParameter<Rearrangement> = TypedParameter {
    key: "rearrangement",
    meaning: "rearranged bytes: `packed`, those of every message with more than one block, at both ends; `exchanges`, the same, but only in an all-to-all, because the blocks of a message can be contiguous in other collectives; `declared`, those that the schedule declares",
    symbols: "",
    default: DefaultValue::Text("packed"),
    read: |text| parse_word(text, Rearrangement::WORDS),
};

pub(super) static REARRANGE_BLOCK_US: TypedParameter<f64> = TypedParameter::micros(
    "rearrange_block_us",
    "rearrangement of a block within a node, in addition to that of its bytes; messages of several blocks then need blocks of one size",
    "",
);
