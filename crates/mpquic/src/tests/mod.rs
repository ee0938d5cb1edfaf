
mod interop;
mod multipath;
mod noq;
mod single;
mod tls;
mod wire;
mod world;
