mod ends;
mod files;
mod paths;
