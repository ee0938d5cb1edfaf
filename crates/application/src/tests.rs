mod bulk;
mod descriptions;
mod hostile;
mod paced;
mod pipe;
mod requests;
mod video;
mod world;
