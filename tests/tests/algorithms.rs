//! The bundled algorithms, through the real plugin files: what they do is what their papers say,
//! and what independent implementations find.

mod collectives;
mod dual_net;
mod liu;
mod oracle;
mod orbits;
mod planted;
mod simgrid;
mod spencer;
mod suh_shin;
mod thakur;
