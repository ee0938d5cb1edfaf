use crate::Forecasts;
use forecast::Forecast;
use units::{Instant, PathId};

fn issued(seconds: u64) -> Forecast {
    let issued_at = Instant::from_millis(1000 * seconds);
    Forecast { issued_at, ..Forecast::certain([]) }
}

#[test]
fn what_was_issued_last_is_known_of_each_path() {
    let mut forecasts = Forecasts::default();
    assert_eq!(forecasts.get(PathId(0)), None);
    for seconds in [10, 20, 15] {
        forecasts.update(PathId(0), issued(seconds));
    }
    assert_eq!(forecasts.get(PathId(0)), Some(&issued(20)), "15 came out of order");
    assert_eq!(forecasts.get(PathId(1)), None);
}
