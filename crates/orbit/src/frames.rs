//! From the frame of SGP4 (TEME) to the turning Earth (ECEF).

use crate::time::Utc;
use crate::vector::Vec3;

const DAYS_PER_CENTURY: f64 = 36_525.0;

/// Greenwich mean sidereal time in radians, 0 to 2π; UTC stands for UT1, which is wrong by less
/// than 0.9 s or 0.004° of the Earth's turn.
pub fn gmst_rad(at: Utc) -> f64 {
    let t = at.since_days(Utc::J2000) / DAYS_PER_CENTURY;
    // IAU 1982 (Aoki et al. 1982; Vallado 2013, eq. 3-47), in seconds of time.
    let secs = 67_310.548_41 + (876_600.0 * 3600.0 + 8_640_184.812_866) * t + 0.093_104 * t * t
        - 6.2e-6 * t * t * t;
    (secs / 240.0).to_radians().rem_euclid(std::f64::consts::TAU)
}

/// How the Earth stands at one moment: rotates TEME into ECEF by sidereal time. Polar motion is
/// left out: it moves a place by less than 15 m.
#[derive(Clone, Copy, Debug)]
pub struct Earth {
    at: Utc,
    sin: f64,
    cos: f64,
}

impl Earth {
    /// The Earth at a moment.
    pub fn at(at: Utc) -> Self {
        let (sin, cos) = gmst_rad(at).sin_cos();
        Self { at, sin, cos }
    }

    /// The moment.
    pub fn time(&self) -> Utc {
        self.at
    }

    /// A position in ECEF.
    pub fn ecef(&self, teme: Vec3) -> Vec3 {
        let [x, y, z] = teme;
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x, z]
    }
}
