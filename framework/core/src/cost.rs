//! Cost: machines, the models that price a schedule's steps on them, and what no schedule can beat.

pub mod background;
pub mod bound;
pub mod ledger;
pub mod machine;
pub mod model;
pub mod parameter;
pub mod settings;
