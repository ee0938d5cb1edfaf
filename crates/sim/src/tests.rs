mod bad_input;
mod capacity;
mod determinism;
mod failures;
mod golden;
mod schedulers;
mod sharing;
mod world;
