//! The +grid: each satellite keeps a link to the ones before and behind it in its plane, and to one
//! in each neighbouring plane (Bhattacherjee & Singla, CoNEXT 2019).

use super::planes::{Member, Plane, shells};
use crate::constellation::Constellation;
use crate::time::Utc;

/// Planes farther apart than this are no neighbours. It parts the two sides of a polar
/// constellation, which fly against each other.
const NEIGHBOUR_PLANES_DEG: f64 = 45.0;

/// Who is linked with whom. Links are laid once and kept: neighbours of a shell move together.
#[derive(Clone, Debug)]
pub struct Grid {
    neighbours: Vec<Vec<usize>>,
}

impl Grid {
    /// Lays the links as the satellites stand at a moment.
    pub fn new(constellation: &Constellation, at: Utc) -> Self {
        let mut grid = Self { neighbours: vec![Vec::new(); constellation.satellites().len()] };
        for planes in shells(constellation, at) {
            for plane in &planes {
                grid.link_within(plane);
            }
            grid.link_across(&planes);
        }
        grid
    }

    /// The satellites that one is linked with: four at most.
    pub fn neighbours(&self, satellite: usize) -> &[usize] {
        &self.neighbours[satellite]
    }

    fn link(&mut self, a: usize, b: usize) {
        self.neighbours[a].push(b);
        self.neighbours[b].push(a);
    }

    fn link_within(&mut self, plane: &Plane) {
        for pair in plane.windows(2) {
            self.link(pair[0].satellite, pair[1].satellite);
        }
        if let [first, _, .., last] = plane.as_slice()
            && plane.len() > 2
        {
            self.link(last.satellite, first.satellite);
        }
    }

    fn link_across(&mut self, planes: &[Plane]) {
        for (index, plane) in planes.iter().enumerate() {
            let wraps = index + 1 == planes.len();
            if wraps && planes.len() < 3 {
                break;
            }
            let next = &planes[if wraps { 0 } else { index + 1 }];
            let apart = middle(next) - middle(plane) + if wraps { 360.0 } else { 0.0 };
            if apart.rem_euclid(360.0) <= NEIGHBOUR_PLANES_DEG {
                self.match_planes(plane, next);
            }
        }
    }

    /// Pairs the satellites of two planes one to one, those first whose difference in phase is
    /// closest to the planes' own; pairs that are more than a slot off stay without.
    fn match_planes(&mut self, plane: &Plane, next: &Plane) {
        let shift_deg = shift_deg(plane, next);
        let slot_deg = 360.0 / plane.len().min(next.len()) as f64;
        let mut pairs = Vec::new();
        for (i, a) in plane.iter().enumerate() {
            for (j, b) in next.iter().enumerate() {
                let off = (b.phase_deg - a.phase_deg - shift_deg).rem_euclid(360.0);
                let off = off.min(360.0 - off);
                if off <= slot_deg {
                    pairs.push((off, i, j));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let (mut used, mut used_next) = (vec![false; plane.len()], vec![false; next.len()]);
        for (_, i, j) in pairs {
            if !used[i] && !used_next[j] {
                (used[i], used_next[j]) = (true, true);
                self.link(plane[i].satellite, next[j].satellite);
            }
        }
    }
}

/// By how much the slots of the next plane are ahead of those of this one, -0.45 to 0.55 slots: the
/// mean direction of all differences. Half a slot is as near forwards as backwards; all then go
/// forwards, or the grid would have holes.
fn shift_deg(plane: &Plane, next: &Plane) -> f64 {
    let slots = plane.len().max(next.len()) as f64;
    let (mut sin, mut cos) = (0.0, 0.0);
    for a in plane {
        for b in next {
            let (s, c) = (slots * (b.phase_deg - a.phase_deg)).to_radians().sin_cos();
            (sin, cos) = (sin + s, cos + c);
        }
    }
    let fraction = sin.atan2(cos) / std::f64::consts::TAU;
    let forwards = if fraction < -0.45 { fraction + 1.0 } else { fraction };
    forwards * 360.0 / slots
}

/// The right ascension of a plane: that of the member in the middle, planes are narrow.
fn middle(plane: &[Member]) -> f64 {
    plane.get(plane.len() / 2).map_or(0.0, |member| member.raan_deg)
}
