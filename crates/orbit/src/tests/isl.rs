use super::{new_year, place, shell};
use crate::vector::distance;
use crate::{Constellation, Format, Grid, Limits, Sky, View, parse};

const LIMITS: Limits = Limits { max_range_km: 5000.0, atmosphere_km: 80.0 };

fn sky(constellation: &Constellation) -> Sky<'_> {
    Sky::new(constellation, vec![true; constellation.satellites().len()], new_year())
}

fn grid(constellation: &Constellation) -> Grid {
    Grid::new(constellation, new_year())
}

/// The same orbits as a catalogue: without their planes.
fn as_catalogue(constellation: &Constellation) -> Constellation {
    let elements: Vec<_> = constellation.satellites().iter().map(|s| s.elements()).collect();
    parse(&serde_json::to_string(&elements).unwrap(), "made.json", Format::Json).unwrap()
}

fn links(grid: &Grid, satellites: usize) -> Vec<Vec<usize>> {
    let sorted = |index| {
        let mut linked = grid.neighbours(index).to_vec();
        linked.sort_unstable();
        linked
    };
    (0..satellites).map(sorted).collect()
}

#[test]
fn each_satellite_of_a_delta_has_four_links_that_go_both_ways() {
    for name in ["starlink-53", "kuiper-33", "starlink"] {
        let made = shell(name);
        let links = links(&grid(&made), made.satellites().len());
        for (index, linked) in links.iter().enumerate() {
            // The planes at 97.6° are 60° and 90° apart: too far for links between them.
            let wanted = if made.satellites()[index].name().contains("-97") { 2 } else { 4 };
            assert_eq!(linked.len(), wanted, "{}", made.satellites()[index].name());
            assert!(linked.iter().all(|other| links[*other].contains(&index)));
            assert!(!linked.contains(&index));
        }
    }
}

#[test]
fn a_star_has_a_seam() {
    let made = shell("oneweb");
    let grid = grid(&made);
    let count = |plane: usize| {
        (0..49).map(|slot| grid.neighbours(plane * 49 + slot).len()).sum::<usize>() as f64 / 49.0
    };
    assert_eq!((count(0), count(5), count(11)), (3.0, 4.0, 3.0));
}

#[test]
fn a_catalogue_is_linked_as_its_parameters_would_be() {
    for name in ["starlink-53", "starlink-70"] {
        let made = shell(name);
        let count = made.satellites().len();
        let found = as_catalogue(&made);
        assert_eq!(links(&grid(&made), count), links(&grid(&found), count), "{name}");
    }
    // Mixed shells are distinguished.
    let made = shell("starlink");
    let found = grid(&as_catalogue(&made));
    let shell_of = |index: usize| made.satellites()[index].seat.unwrap().shell;
    for index in 0..3888 {
        assert!(found.neighbours(index).iter().all(|other| shell_of(*other) == shell_of(index)));
    }
}

#[test]
fn the_route_is_the_shortest() {
    let made = shell("kuiper-33");
    let (grid, sky) = (grid(&made), sky(&made));
    let view = |lat, lon| View::new(&place(lat, lon), 25.0, 0.0).unwrap();
    let (near, far) = (view(6.52, 3.38), view(1.35, 103.82)); // Lagos, Singapore
    let seen = |view: &View| -> Vec<(usize, f64)> {
        let all = 0..made.satellites().len();
        all.filter_map(|index| Some((index, view.sees(sky.ecef_km(index)?)?))).collect()
    };
    let first = seen(&near);
    let route = grid.route(&sky, &first, &far, &LIMITS).unwrap();
    // Bellman and Ford: relax every link until nothing changes.
    let mut km = vec![f64::INFINITY; made.satellites().len()];
    first.iter().for_each(|(index, range_km)| km[*index] = *range_km);
    let mut changed = true;
    while changed {
        changed = false;
        for from in 0..km.len() {
            for to in grid.neighbours(from) {
                let length = distance(sky.ecef_km(from).unwrap(), sky.ecef_km(*to).unwrap());
                if length <= 5000.0 && km[from] + length < km[*to] - 1e-9 {
                    km[*to] = km[from] + length;
                    changed = true;
                }
            }
        }
    }
    let wanted = seen(&far).into_iter().map(|(index, range_km)| km[index] + range_km);
    let wanted = wanted.fold(f64::INFINITY, f64::min);
    assert!((route.length_km - wanted).abs() < 1e-4, "{} {wanted}", route.length_km);
    // And it is what its own hops add up to.
    let hops = route.satellites.windows(2);
    let hops: f64 =
        hops.map(|h| distance(sky.ecef_km(h[0]).unwrap(), sky.ecef_km(h[1]).unwrap())).sum();
    let ends = near.sees(sky.ecef_km(route.satellites[0]).unwrap()).unwrap()
        + far.sees(sky.ecef_km(*route.satellites.last().unwrap()).unwrap()).unwrap();
    assert!((hops + ends - route.length_km).abs() < 1e-4);
}

#[test]
fn links_that_are_too_long_or_touch_the_air_are_not_used() {
    let made = shell("starlink-97b"); // 8.4° apart in the plane: 1,013 km
    let (grid, sky) = (grid(&made), sky(&made));
    let position = sky.ecef_km(0).unwrap();
    let under = crate::Place { height_m: 0.0, ..crate::Place::from_ecef_km(position) };
    let far_one = grid.neighbours(0)[0];
    let there = crate::Place::from_ecef_km(sky.ecef_km(far_one).unwrap());
    let far = View::new(&crate::Place { height_m: 0.0, ..there }, 60.0, 0.0).unwrap();
    let near = View::new(&under, 60.0, 0.0).unwrap();
    let first = [(0, near.sees(position).unwrap())];
    let route = |limits| grid.route(&sky, &first, &far, &limits);
    assert_eq!(route(LIMITS).unwrap().satellites, [0, far_one]);
    assert_eq!(route(Limits { max_range_km: 1000.0, ..LIMITS }), None);
    // Halfway the link is 18 km lower than its ends at 560 km.
    assert!(route(Limits { atmosphere_km: 500.0, ..LIMITS }).is_some());
    assert_eq!(route(Limits { atmosphere_km: 560.0, ..LIMITS }), None);
}
