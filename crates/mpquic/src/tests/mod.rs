mod interop;
mod multipath;
mod noq;
mod robust;
mod single;
mod tls;
mod wire;
mod world;
