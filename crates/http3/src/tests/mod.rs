mod control;
mod messages;
