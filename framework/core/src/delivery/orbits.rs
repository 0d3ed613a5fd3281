//! Schedules that a group maps onto themselves, proved on one node of each orbit.

pub mod group;
