//! The constellations that are built in: their orbits as operators filed them with the FCC.
//!
//! Their tables give planes, satellites, inclination and altitude. The phasing between planes is
//! ours, not that of the filings' lists of single satellites: neighbouring planes are half a slot
//! apart (Walker's F = planes / 2), as Hypatia assumes (satgenpy, `phase_diff`; Kassing et al., IMC
//! 2020).

/// One shell: circular orbits at one altitude and inclination, in evenly spaced planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// The constellation that it belongs to.
    pub constellation: &'static str,
    /// Its own name.
    pub name: &'static str,
    /// Inclination.
    pub inclination_deg: f64,
    /// Above the equatorial radius of WGS72.
    pub altitude_km: f64,
    /// Orbital planes.
    pub planes: usize,
    /// Satellites in a plane.
    pub per_plane: usize,
    /// Walker's phasing factor F: from one plane to the next the satellites are F slots of
    /// 360°/(planes × per_plane) further on.
    pub phasing: usize,
    /// The angle over which right ascensions spread: 360 (Walker delta) or 180 (Walker star).
    pub spread_deg: f64,
    /// The filing.
    pub source: &'static str,
}

const STARLINK: &str = "FCC SAT-MOD-20200417-00037, granted by FCC 21-48 (2021), table 1";
const KUIPER: &str = "FCC SAT-LOA-20190704-00057, granted by FCC 20-102 (2020)";

/// All shells; rows of one constellation fly together.
#[rustfmt::skip]
pub const SHELLS: [Shell; 10] = [
    delta("starlink", "starlink-53",   (53.0,  550.0), (72, 22), STARLINK),
    delta("starlink", "starlink-53.2", (53.2,  540.0), (72, 22), STARLINK),
    delta("starlink", "starlink-70",   (70.0,  570.0), (36, 20), STARLINK),
    delta("starlink", "starlink-97",   (97.6,  560.0), (6, 58),  STARLINK),
    delta("starlink", "starlink-97b",  (97.6,  560.0), (4, 43),  STARLINK),
    delta("kuiper",   "kuiper-51.9",   (51.9,  630.0), (34, 34), KUIPER),
    delta("kuiper",   "kuiper-42",     (42.0,  610.0), (36, 36), KUIPER),
    delta("kuiper",   "kuiper-33",     (33.0,  590.0), (28, 28), KUIPER),
    star("oneweb",     "oneweb-588",   (87.9, 1200.0), (12, 49), "FCC SAT-MPL-20200526-00062, phase 1, its part at 87.9 degrees"),
    star("oneweb-720", "oneweb-720",   (87.9, 1200.0), (18, 40), "FCC SAT-LOI-20160428-00041, granted by FCC 17-77 (2017)"),
];

const fn delta(
    constellation: &'static str,
    name: &'static str,
    (inclination_deg, altitude_km): (f64, f64),
    (planes, per_plane): (usize, usize),
    source: &'static str,
) -> Shell {
    let (phasing, spread_deg) = (planes / 2, 360.0);
    Shell {
        constellation,
        name,
        inclination_deg,
        altitude_km,
        planes,
        per_plane,
        phasing,
        spread_deg,
        source,
    }
}

const fn star(
    constellation: &'static str,
    name: &'static str,
    orbit: (f64, f64),
    size: (usize, usize),
    source: &'static str,
) -> Shell {
    let mut shell = delta(constellation, name, orbit, size, source);
    shell.spread_deg = 180.0;
    shell
}

/// Names that [`shells_of`] knows: the constellations, then the single shells.
pub fn shell_names() -> Vec<&'static str> {
    let mut names: Vec<_> = SHELLS.iter().map(|shell| shell.constellation).collect();
    names.dedup();
    names.extend(SHELLS.iter().map(|shell| shell.name).filter(|name| *name != "oneweb-720"));
    names
}

/// The shells of a constellation, or the one shell of that name; none if the name is unknown.
pub fn shells_of(name: &str) -> Vec<Shell> {
    let wanted = |shell: &&Shell| shell.constellation == name || shell.name == name;
    SHELLS.iter().filter(wanted).copied().collect()
}
