//! Re-runs the tables of the papers and says where they hold
