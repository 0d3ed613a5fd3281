//! Tests that cross crates: the program, the plugin files, the papers' figures
