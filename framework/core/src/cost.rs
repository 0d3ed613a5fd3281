//! Costs: machines, the models that compute completion times on them, and lower bounds.

pub mod alone;
pub mod background;
pub mod bound;
pub mod kind;
pub mod machine;
pub mod model;
pub mod parameter;
pub mod settings;
