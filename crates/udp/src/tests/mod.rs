mod ends;
mod files;
mod interop;
mod noq;
mod paths;
mod retry;
mod strangers;
mod tls;
