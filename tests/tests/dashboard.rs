//! Tests of the dashboard: the drawing of every panel, and the real program in a terminal.

mod columns;
mod failing;
mod large;
mod leaving;
mod opened;
mod panels;
mod picking;
mod pty;
mod replays;
mod screens;
mod sessions;
mod steps;
mod terminal;
mod what_if;
