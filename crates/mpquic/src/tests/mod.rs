mod interop;
mod noq;
mod single;
mod tls;
mod wire;
mod world;
