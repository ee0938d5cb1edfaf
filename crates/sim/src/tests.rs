mod bad_input;
mod capacity;
mod determinism;
mod failures;
mod golden;
mod sharing;
mod world;
