mod fluid;
mod frames;
mod plans;
mod players;
mod properties;
mod sabre;
