mod ends;
mod files;
mod interop;
mod noq;
mod paths;
mod strangers;
mod tls;
