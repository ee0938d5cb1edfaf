mod formats;
mod series;
